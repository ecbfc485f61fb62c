def fix_by_cut_relaxation(graph, task, *, bound):
    return graph, bound
