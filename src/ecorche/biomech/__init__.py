"""Musculoskeletal models: from measured motion to tensions, and from measured skin to muscles."""
