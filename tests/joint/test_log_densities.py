"""Log densities against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from funcal.joint.log_densities import normal_log_pdf, student_log_pdf


def test_log_densities_are_scipys(rng: np.random.Generator) -> None:
    """Normal and Student's t."""
    gap, variance = rng.standard_normal(5), rng.gamma(2.0, size=5)
    np.testing.assert_allclose(
        normal_log_pdf(gap, variance), stats.norm.logpdf(gap, scale=np.sqrt(variance)), rtol=1e-12
    )
    assert student_log_pdf(1.3, 4.0, 0.49) == pytest.approx(stats.t.logpdf(1.3, 4.0, scale=0.7), rel=1e-12)
