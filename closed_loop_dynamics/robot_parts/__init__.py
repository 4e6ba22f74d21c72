"""Pieces of the front door that are not needed to read it."""
