"""Test support that never imports the package: an oracle on Pinocchio and random robots."""
