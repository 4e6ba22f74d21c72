"""Motions that an optimiser finds: CasADi's Opti with IPOPT on ``robot.casadi``, loops inside.

``problem.py`` poses them, ``motions.py`` has two; ``python -m tools.optimise`` solves both and
writes their tables and pictures for docs/optimisation.md.
"""
