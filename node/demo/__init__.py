"""The demo: real answers of language models, moved through the real protocol.

`cruxeval`       the answers of 51 models to 800 questions whose truth is known
`make_cruxeval`  makes the compact file of those answers from its public sources
"""
