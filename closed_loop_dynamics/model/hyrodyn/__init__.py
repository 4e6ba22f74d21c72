"""Submechanism files: the format that Phobos writes and HyRoDyn reads, with our keys on top."""
