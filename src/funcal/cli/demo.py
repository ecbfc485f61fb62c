"""`funcal demo`: the paper's first synthetic problem, from CSV files to predictions against the truth."""

import argparse
from typing import Any

__all__ = ["register", "run"]

#: One draw of the problem; any other seed will do as well.
DEMO_SEED = 1


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "demo",
        help="calibrate the paper's first problem and show the result against the truth",
        description="Calibrate the paper's first synthetic problem and show the result against the truth.",
    )
    parser.add_argument(
        "--out", default="demo-output", metavar="DIR", help="directory to write (demo-output)"
    )
    parser.add_argument("--force", action="store_true", help="replace an earlier result in DIR")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--method", metavar="KEY", help="another method than the default")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw, write, calibrate, predict, compare with the truth."""
    from pathlib import Path

    import numpy as np

    from ..methods.calibrate import calibrate
    from ..methods.registry import DEFAULT_METHOD
    from ..plots.figure_files import write_figure
    from ..plots.truth import plot_against_truth
    from ..problem import CalibrationProblem
    from ..report.output_directory import check_free, new_directory
    from ..report.write_result import write_result_files
    from ..testbed import get_problem
    from .console import print_table, show_progress
    from .fit import print_outcome

    check_free(args.out, force=args.force)
    case = get_problem("synthetic-1").draw(DEMO_SEED)
    with new_directory(args.out, force=args.force) as directory:
        physical, runs = Path(directory, "physical.csv"), Path(directory, "runs.csv")
        case.physical.to_csv(physical, index=False)
        case.runs.to_csv(runs, index=False)
        roles = case.roles
        problem = CalibrationProblem.from_tables(
            physical, runs, control=roles.control, functional=roles.functional, response=roles.response
        )
        print(
            "The paper's first synthetic problem: y = θ(x) · exp(−0.05 x²) · (sin² x + 1), θ(x) = exp(−0.05 x)."
        )
        print(f"{problem.summary()} Noise variance 0.05.")
        with show_progress(args.quiet) as progress:
            calibration = calibrate(problem, args.method or DEFAULT_METHOD, seed=DEMO_SEED, progress=progress)
        write_result_files(calibration, directory, inputs=(str(physical), str(runs)))
        prediction = calibration.predict(case.test_frame())
        prediction.to_frame().to_csv(Path(directory, "predictions.csv"), index=False)
        figure = plot_against_truth(calibration, case)
        write_figure(figure, Path(directory, "figures", "truth.png"))
        truth = case.test_calibration()
    order = np.argsort(prediction.controls.iloc[:, 0].to_numpy())
    theta = prediction.calibration.get("theta")
    rows = []
    for q in order:
        row = [f"{prediction.controls.iloc[q, 0]:.2f}"]
        if theta is not None and truth is not None:
            row += [
                f"{truth[q, 0]:.3f}",
                f"{theta.mean[q]:.3f}",
                f"[{theta.lower[q]:.3f}, {theta.upper[q]:.3f}]",
            ]
        response = prediction.response
        row += [
            f"{case.test_response[q]:.3f}",
            f"{response.mean[q]:.3f}",
            f"[{response.lower[q]:.3f}, {response.upper[q]:.3f}]",
        ]
        rows.append(row)
    theta_columns = ["true θ(x)", "θ(x)", "95 % interval"] if theta is not None and truth is not None else []
    print_table(["x", *theta_columns, "true y", "y", "95 % interval"], rows, title="At 12 new controls")
    print_outcome(calibration)
    print(f"\nEverything is in {args.out}/: open {args.out}/figures/truth.png first.")
    return 0
