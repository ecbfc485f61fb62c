"""Diagnostics: convergence, residual tests, scores."""
