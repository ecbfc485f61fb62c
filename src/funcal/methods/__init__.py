"""The calibration methods: the default, the paper's two, and every rival, behind one protocol."""
