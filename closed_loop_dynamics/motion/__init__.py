"""Motions of the independent joints: splines, checks, observer, intake. No ROS in here."""
