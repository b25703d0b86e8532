"""Simulations that run the shipped protocol: a simulated result is a statement about this code.

`network`  many real worlds over a virtual, lossy, partly lying network
"""
