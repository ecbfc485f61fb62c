def solve_cluster_subpacking(task): raise RuntimeError
