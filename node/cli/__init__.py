"""The command line: data to standard output, words for people to standard error.

`main`  the argument parser, the exit codes, and how an error is printed

A command's name is a noun and a verb of the glossary. An error is printed as three lines: what
happened, why, and what to do; its code stands in the last one.
"""
