"""SDF files, the format of Gazebo, which Drake reads too."""
