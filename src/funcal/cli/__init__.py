"""The command line: one command per file, nothing heavy imported before a command runs."""
