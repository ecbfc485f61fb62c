"""Scaling is invertible and puts everything into unit boxes; subsets keep replicates."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcal.problem import AffineScaling, CalibrationProblem, PhysicalData


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5),
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e3),
)
def test_an_affine_scaling_is_undone_by_its_inverse(values: list[float], shift: float, width: float) -> None:
    """from_unit(to_unit(a)) = a."""
    scaling = AffineScaling(np.array([shift]), np.array([width]))
    column = np.array(values)[:, None]
    np.testing.assert_allclose(scaling.from_unit(scaling.to_unit(column)), column, atol=1e-6, rtol=1e-9)


def test_a_constant_column_keeps_width_one() -> None:
    """Point 26: no division by zero."""
    scaling = AffineScaling.from_range(np.array([2.0]), np.array([2.0]))
    assert scaling.width[0] == 1.0


def test_the_scaled_problem_lies_in_unit_boxes(problem_one: CalibrationProblem) -> None:
    """Controls and calibration vectors in [0, 1]; runs' responses with mean 0 and sd 1."""
    scaled = problem_one.scaled()
    for values in (scaled.x_sites, scaled.x_runs, scaled.t_runs):
        assert values.min() >= 0.0
        assert values.max() <= 1.0
    assert scaled.y_runs.mean() == pytest.approx(0.0, abs=1e-12)
    assert scaled.y_runs.std() == pytest.approx(1.0)
    np.testing.assert_allclose(
        scaled.scaling.response_from_unit(scaled.y_sites), problem_one.physical.response
    )


def test_a_subset_is_what_the_rows_alone_would_give(rng: np.random.Generator) -> None:
    """Leaving sites out equals reading only their rows, replicates included."""
    control = np.repeat(np.arange(4.0), 3)[:, None]
    response = rng.normal(size=12)
    runs = pd.DataFrame(
        {"x": np.tile(np.arange(4.0), 4), "t": rng.uniform(size=16), "y": rng.normal(size=16) * 9}
    )
    table = pd.DataFrame({"x": control[:, 0], "y": response})
    problem = CalibrationProblem.from_tables(table, runs, control="x", functional="t", response="y")
    keep = np.array([0, 2, 3])
    part = problem.subset(keep).physical
    alone = PhysicalData.from_rows(control[control[:, 0] != 1.0], response[control[:, 0] != 1.0])
    np.testing.assert_allclose(part.response, alone.response)
    np.testing.assert_array_equal(part.count, alone.count)
    assert part.within_ss == pytest.approx(alone.within_ss)
    assert part.within_dof == alone.within_dof
