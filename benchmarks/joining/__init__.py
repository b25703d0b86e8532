"""What joining costs: minting a proof, checking it, standing a flood of false ones, and a crowd."""
