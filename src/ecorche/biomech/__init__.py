"""Musculoskeletal models: from measured motion and forces to what each muscle does."""
