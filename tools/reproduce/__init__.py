"""The papers' results beside ours: ``make reproduce`` writes docs/reproduction.md and its plots."""
