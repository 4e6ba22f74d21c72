"""Robots in time: integration of the forward dynamics, the simulated plant, payloads."""
