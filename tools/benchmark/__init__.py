"""Time per call beside Pinocchio, on the same model and states: ``python -m …bench``."""
