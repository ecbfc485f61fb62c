"""Figures, one per file; each function returns a matplotlib `Figure` and shows nothing."""
