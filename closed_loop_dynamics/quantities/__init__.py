"""What a robot can be asked for, one file each: NumPy around the native programs."""
