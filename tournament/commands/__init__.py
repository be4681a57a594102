"""The commands of `tournament`, one module each.

They read options, call the layers below, and write: data to stdout, words for people to stderr.
"""
