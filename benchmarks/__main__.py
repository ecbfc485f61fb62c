"""Run every benchmark, or those named on the command line: ``python -m benchmarks shortest_path``."""

import importlib
import sys

BENCHMARKS = (
    "shortest_path",
    "spanning_tree",
    "paper_sampler",
    "emulator_kernel",
    "joint_sampler",
    "learning_anew",
    "comparison_cost",
    "prediction_weights",
    "tuned_variant",
    "joint_coverage",
    "closed_form_coverage",
    "large_table",
)


def main(names: list[str]) -> int:
    """Print the table of each benchmark."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    for name in names or BENCHMARKS:
        print(f"\n== {name.replace('_', ' ')} ==", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
