"""The steps of a check, each a function from a room to a verdict; `table` has them in order."""
