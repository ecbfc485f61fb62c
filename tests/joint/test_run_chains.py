"""When sampling stops: mixing is judged on what the user is shown."""

import numpy as np

from funcal.joint.model import build_model
from funcal.joint.run_chains import worst_mixing
from funcal.joint.sweep import allocate_segment
from funcal.mixing import bulk_ess, split_rhat
from funcal.problem import ScaledProblem


def test_the_noise_is_judged_as_it_is_shown(one_function: ScaledProblem, rng: np.random.Generator) -> None:
    """R-hat of σ, not of ln σ: one chain has the same middle as the others and a longer tail to small values."""
    model = build_model(one_function)
    segments = [allocate_segment(model, 400) for _ in range(4)]
    for chain, segment in enumerate(segments):
        for array in segment:
            array[:] = rng.standard_normal(array.shape)
        log_noise = rng.standard_normal(400)
        segment.u[:, model.layout.log_noise] = np.where(
            log_noise < 0.0, (3.0 if chain == 0 else 1.0) * log_noise, log_noise
        )
    log_noise = np.stack([segment.u[:, [model.layout.log_noise]] for segment in segments])
    rhat, ess = worst_mixing([segments], model)
    assert rhat == split_rhat(np.exp(log_noise)).item()
    assert abs(rhat - split_rhat(log_noise).item()) > 1e-3
    assert ess <= bulk_ess(log_noise).item() * (1.0 + 1e-9)
