"""The commands of `referee`, one module each: they read options, call a layer below, and print.

They may import all of `referee`; nothing but `referee.cli` imports them. They judge nothing.
"""
