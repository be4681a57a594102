"""A standing ladder: a referee on TCP for bots that connect whenever they like, and who they meet.

It may import everything of the tournament but its runner, workers and commands, and it is one of
the places that host a referee. Ratings are computed in a process of their own.
"""
