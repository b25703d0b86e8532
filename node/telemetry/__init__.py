"""What a node tells about itself while it runs.

`log`  events with a name and a few plain values, one line an episode
"""
