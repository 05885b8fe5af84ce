"""Fat: an elastic solid between what lies beneath and the skin."""
