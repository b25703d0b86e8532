"""Who may do what: bearer tokens, made by the command line and read by a running node.

`tokens`  the file of hashed tokens, their scopes, and the operator's own
"""
