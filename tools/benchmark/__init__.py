"""Time per call beside Pinocchio and MuJoCo, on the same model and states: ``make bench``."""
