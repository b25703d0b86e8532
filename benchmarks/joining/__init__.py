"""What joining costs: minting a proof, checking it, and standing a flood of false ones."""
