"""The rig file: what a person edits and puts under version control. Plain values only."""
