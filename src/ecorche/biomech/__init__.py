"""Musculoskeletal models: from measured markers and forces to joint angles, moments and muscle lengths.

Muscle forces with EMG as a target, models scaled to subjects, and muscles identified from markers.
"""
