def solve_multi_commodity_flow(task): raise RuntimeError
