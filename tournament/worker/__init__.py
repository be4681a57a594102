"""The worker process: one event loop, one referee on a private socket, one leg after another.

The only place that imports `referee.service`, and that only in its `__main__`. What it says to
the runner stands in messages.py.
"""
