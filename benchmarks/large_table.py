"""Memory of a large fit: 2 000 runs at 100 sites of two controls must fit, compare and predict within 2 GiB.

Memory does not grow with the number of draws but for their own length, so the chains and their trajectories are short.
The fit runs in a process of its own, whose peak is what the system says of it.
"""

import multiprocessing
import resource
import time
import warnings

import numpy as np
import pandas as pd

NUM_SITES, NUM_RUNS, NUM_NEW = 100, 2000, 200
ALLOWED_MIB = 2048
SHORT = {"warmup": 50, "draws": 20, "max_draws": 20, "max_depth": 4, "tempering": False, "ensemble_size": 4}


def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Measurements, runs and new controls of y = sin(3a) + b θ + θ², θ(x) = 0.3 + 0.4 a, noise 0.05."""
    rng = np.random.default_rng(0)
    sites = rng.uniform(size=(NUM_SITES, 2))
    run_controls = np.repeat(sites, NUM_RUNS // NUM_SITES, axis=0)

    def response(control: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(3.0 * control[:, 0]) + control[:, 1] * theta + theta**2)

    measured = response(sites, 0.3 + 0.4 * sites[:, 0]) + rng.normal(0.0, 0.05, NUM_SITES)
    theta = rng.uniform(size=NUM_RUNS)
    names = pd.Index(["a", "b"])
    physical = pd.DataFrame(sites, columns=names).assign(y=measured)
    runs = pd.DataFrame(run_controls, columns=names).assign(theta=theta, y=response(run_controls, theta))
    return physical, runs, pd.DataFrame(rng.uniform(size=(NUM_NEW, 2)), columns=names)


def peak() -> float:
    """Peak memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def fit_and_predict() -> None:
    """Print seconds and peak memory after the fit with its comparison, and after a prediction."""
    import funcal

    warnings.simplefilter("ignore")  # chains this short do not converge
    physical, runs, new = tables()
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["a", "b"], functional=["theta"], response="y"
    )
    began = time.perf_counter()
    fitted = funcal.calibrate(problem, "joint", seed=1, **SHORT)
    steps = fitted.fit.stats["num_steps"].mean()
    print(
        f"fit with comparison {time.perf_counter() - began:6.0f} s, {steps:.0f} gradients a draw, {peak():.0f} MiB",
        flush=True,
    )
    began = time.perf_counter()
    fitted.predict(new)
    verdict = "within" if peak() <= ALLOWED_MIB else "beyond"
    print(f"prediction {time.perf_counter() - began:15.0f} s, {peak():.0f} MiB, {verdict} {ALLOWED_MIB} MiB")


def main() -> None:
    """Run the fit in a fresh process."""
    process = multiprocessing.get_context("spawn").Process(target=fit_and_predict)
    process.start()
    process.join()
