"""funcal: functional calibration of expensive computer models."""
