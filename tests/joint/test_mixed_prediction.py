"""How many components of a mixture each member has."""

import numpy as np
import pytest

from funcal.joint.mixed_prediction import NEGLIGIBLE, component_counts


@pytest.mark.parametrize("total", [20, 137, 500])
def test_component_counts_add_up(total: int, rng: np.random.Generator) -> None:
    """Every mixture has the same number of components, dealt by weight to within one; negligible members have none."""
    for _ in range(20):
        weights = dict(zip("abcd", rng.dirichlet(np.full(4, 0.5)).tolist(), strict=True))
        counts = component_counts(weights, total)
        kept = {name: weight for name, weight in weights.items() if weight >= NEGLIGIBLE}
        assert sum(counts.values()) == total
        assert set(counts) <= set(kept)
        for name, weight in kept.items():
            assert abs(counts.get(name, 0) - total * weight / sum(kept.values())) < 1.001
