"""What the examples of the help come to on a node where nobody plays, and which are tried elsewhere."""

REFUSED_HERE = {
    "appeal": "UNKNOWN_SANCTION",  # Nobody was sanctioned.
    "artifact flag-stale": "GUARD_FAILED",  # It does not stand yet.
    "artifact resubmit": "GUARD_FAILED",  # It was not retracted.
    "artifact revise": "GUARD_FAILED",  # What it would replace does not stand yet.
    "artifact withdraw": "GUARD_FAILED",
    "artifact unhide": "NOT_FOUND",  # Nobody has hidden it here.
    "contest": "NOT_IN_PHASE",  # There is no result yet.
    "dispute file": "GUARD_FAILED",  # It does not stand yet.
    "report assess": "NOT_IN_PHASE",  # Nobody has reported it.
    "review argue": "NOT_IN_PHASE",  # Arguments are not sealed under this preset.
    "rule": "NOT_IN_PHASE",  # There is nothing to rule yet.
    "admin cosign": "NOT_FOUND",  # What its only operator says has its quorum at once.
    "admin review": "NOT_IN_PHASE",  # The round has not come to the operators.
    "charter adopt": "NOT_FOUND",
    "agent import": "KEY_WOULD_BE_LOST",  # All keys are kept already.
    "agent register": "NO_PASSPHRASE",  # There is nobody to ask for one.
    "keys passphrase": "LOCKED",  # The node runs.
    "federation link": "HEAD_REFUSED",  # The file holds no head.
    "federation policy": "NOT_FOUND",  # No other instance is in this realm.
    "federation unlink": "NOT_FOUND",
    "operator register": "NO_PASSPHRASE",
    "peer ban": "NOT_FOUND",  # No other instance is in this realm.
    "peer remove": "NOT_FOUND",
    "peer why": "NOT_FOUND",
    "webhook remove": "NOT_FOUND",  # There is none.
    "webhook retry": "NOT_FOUND",  # Nothing was sent.
    "unvouch": "NO_VOUCH",  # No cut may have the vouch yet.
    "sanction show": "NOT_FOUND",  # Nobody was sanctioned.
    "trust diff": "NOT_FOUND",
    "review object": "NOT_IN_PHASE",  # No topic of this preset takes the fast track.
}
"""Commands that other tests run to a good end; here only their understanding is shown."""
OFFLINE = {"charter", "version", "demo", "init", "run", "dev"}
"""Commands whose examples other tests run."""
STREAMS = {"notice follow"}
"""Commands that print a line of JSON for each thing that happens, perhaps none."""
