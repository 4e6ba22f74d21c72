"""URDF+ files: a spanning tree and what closes its loops, in one."""
