"""The compiled programs of one robot: compile, run, guess, rescue, and the numerical twin."""
