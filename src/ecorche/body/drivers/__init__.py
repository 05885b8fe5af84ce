"""Drivers: from the pose of the skeleton to the muscle joints, as a table that any engine can evaluate."""
