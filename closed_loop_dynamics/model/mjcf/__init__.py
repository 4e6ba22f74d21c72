"""MJCF files, MuJoCo's own format, as MuJoCo's own compiler understands them."""
