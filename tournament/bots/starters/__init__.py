"""Writes folders of new bots that work as they are, for authors to change.

A folder below is the template of one language; `@NAME@` and the like in it are filled in.
"""
