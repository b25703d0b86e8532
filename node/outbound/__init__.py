"""What a node asks of addresses that strangers name: only the public internet, only by HTTPS.

`addresses`  which addresses are public, and the look-up of a name
`fetching`   one small document by HTTPS, from an address that was looked at first
`posting`    one small document sent by HTTPS, by the same rules
`domains`    whether a domain says that an operator is its own

Whoever names an address may want this node to talk to what only this node can reach: itself, its
neighbours, its cloud provider. So nothing here goes anywhere that is not public.
"""
