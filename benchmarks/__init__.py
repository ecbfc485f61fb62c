"""Speed, as ratios measured in one run; `make bench` prints the tables."""
