"""The check of one bot: scripted situations on a referee of its own, and a numbered report.

It hosts `referee.service` and starts the bot through `tournament.bots`, as a tournament does. It
reads and writes no database, and decides nothing but whether the bot may compete.
"""
