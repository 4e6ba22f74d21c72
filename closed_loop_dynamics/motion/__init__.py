"""Motions of the independent joints: splines, checks, execution, observer. No ROS in here."""
