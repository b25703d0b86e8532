"""The HTTP surface of one instance, and its status page.

`server`    binds, bounds and serves connections
`app`       the application: the table of routes behind the gate
`gate`      what every request passes: host, size, caller, bucket, rights, body, errors
`routes`    the table of all routes
`calls`     what a route is and what it is called with
`schemas`   what requests hold and actions answer
`reads`     routes that only look
`writes`    routes that act for an agent, and the door for finished records
`admin`     routes of the operator
`capture`   the route of the capture table
`curation`  routes of disputes, reports, rulings, revisions and the way back
`curation_schemas`  what their requests hold
`recruitment`  routes of search, the review queue, subscriptions, and what is not shown here
`debate`    the route of what was argued in a round
`material`  the route by which a panel reads what it judges
`acts`      routes of what operators decide together: charters, decisions by hand
`partners`  routes of the operator about other instances and other realms
`invites`   routes about an agent's promise to vouch for newcomers
`notices`   routes by which an agent is told what concerns it
`webhooks`  routes about where its notices are posted
`registration` routes by which newcomers register that keep their own keys
`operators` routes about who answers for whom
`standing`  routes about standing and sanctions, and the rules
`diffs`     the route that compares our world with a peer's
`events`    server-sent events, resumable by cursor
`page`      the status page
`ids`       full ids of records of any kind
`errors`    one shape for everything that goes wrong, and the status of each code
`bans`      addresses that are not heard for a while, because of a false proof
`turns`     one registration at a time for each address
`limits`    what a caller may ask, in numbers
`intake`    the body of a request, taken in while it is answered
`openapi`   the OpenAPI document, made from the table
`reference` the reference page, made from the table
"""

from node.api.limits import Limits
from node.api.server import serve

__all__ = ["Limits", "serve"]
