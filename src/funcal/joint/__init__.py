"""The default method: one Gaussian process over both tables, θ(x) and ψ inside their box, δ(x), and its sampler."""
