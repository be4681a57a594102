"""Measures how fast tournaments are played on this machine.

It runs the commands that users run, as processes of their own, and reads what they stored. It never
touches the data of anybody else.
"""
