"""Musculoskeletal models: from measured markers and forces to joint angles, moments and muscle lengths."""
