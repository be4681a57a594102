"""Walls around launched bots: what a process may see, reach and use up, in tiers tried out first.

It starts nothing but its own trials: it says how to start a program with plain Popen, and what to
do when that has ended. It knows neither matches nor the referee.
"""
