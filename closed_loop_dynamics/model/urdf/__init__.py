"""URDF files: the spanning tree."""
