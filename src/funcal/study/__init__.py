"""Studies: problems × methods × replicates, run once each, recorded for good, summarised in tables and figures."""
