"""TrueSkill from sets of results. Pure.

It imports the trueskill package and itself. It knows neither the store nor how results came about.
"""
