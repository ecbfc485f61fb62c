"""What is written for people: the result directory, its summary, and plain words."""
