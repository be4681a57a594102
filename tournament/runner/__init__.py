"""Has a tournament played: begins it, checks that it may go on, keeps workers busy.

It stores each result once, whatever dies on the way. It rates nothing and shows nothing but
progress.
"""
