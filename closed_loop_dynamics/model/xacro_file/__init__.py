"""xacro files: URDF (or SDF) with macros, expanded by the ``xacro`` package."""
