"""The fault campaign: real nodes, real middleware, random faults, and a judge of what follows."""
