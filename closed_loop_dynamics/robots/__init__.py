"""Example robots, written by parametric generators instead of copied from somewhere."""
