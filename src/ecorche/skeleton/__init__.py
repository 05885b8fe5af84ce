"""Joints and their limits, kinematics, motion, naming conventions, retargeting."""
