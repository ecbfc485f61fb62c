"""The sections of a study's report, each a table beside the paper's printed values where there are any."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from .paper_values import (
    PRINTED_GRAPH,
    PRINTED_RESIDUALS,
    PRINTED_RMSE_THETA,
    PRINTED_RMSE_Y,
    PRINTED_SECONDS,
    PRINTED_TREE_SECONDS,
    SD_UNITS,
)
from .text_tables import Section

__all__ = [
    "anchor_sections",
    "apart_section",
    "error_section",
    "failure_section",
    "interval_section",
    "paired_section",
    "residual_section",
    "time_section",
]


def _label(method: str, variant: str) -> str:
    return f"{method} ({variant})" if variant else method


def _lookup(summary: pd.DataFrame) -> dict[tuple[str, str, str, str], Any]:
    rows: Any = summary.itertuples(index=False)
    return {(row.problem, row.method, row.variant, row.metric): row for row in rows}


def _rows_of(summary: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(summary["method"], summary["variant"], strict=True)))


def _cell(entry: Any, printed: float | None = None) -> str:
    if entry is None:
        return "-" if printed is None else f"- ({printed:.3f})"
    text = f"{entry.value:.3f} [{entry.q10:.3f}, {entry.q90:.3f}]"
    return text if printed is None else f"{text} ({printed:.3f})"


def error_section(summary: pd.DataFrame, problems: Sequence[str], *, target: str) -> Section:
    """RMSE of y or of [θ, ψ] for every method and problem, with the printed value in round brackets."""
    of_y = target == "y"
    printed = PRINTED_RMSE_Y if of_y else PRINTED_RMSE_THETA
    known = _lookup(summary)
    shown = [
        key for key in problems if of_y or any(entry[0] == key and entry[3] == "rmse_t" for entry in known)
    ]
    rows = []
    for method, variant in _rows_of(summary):
        cells = []
        for problem in shown:
            metric = "rmse_t" if not of_y else ("rmse_y_sd" if problem in SD_UNITS else "rmse_y")
            value = printed.get(problem, {}).get(method) if variant == "" else None
            cells.append(_cell(known.get((problem, method, variant, metric)), value))
        if any(cell != "-" for cell in cells):
            rows.append((_label(method, variant), *cells))
    what = (
        "RMSE_y against the noise-free truth (real data: the held-out measurement)"
        if of_y
        else "RMSE_θ of [θ, ψ]"
    )
    units = "Units: PVA in sd(y^p), all else raw." if of_y else "Raw units."
    return Section(
        title="Errors of the response" if of_y else "Errors of the calibration variables",
        text=f"{what}: median over replicates [10 %, 90 %], the paper's printed value in round brackets. {units}",
        header=("method", *shown),
        rows=tuple(rows),
    )


def apart_section(summary: pd.DataFrame, problems: Sequence[str]) -> Section:
    """θ and ψ apart, where both exist, and RMSE_y in the other unit."""
    known = _lookup(summary)
    both = [key for key in problems if any(entry[0] == key and entry[3] == "rmse_psi" for entry in known)]
    header = ["method"]
    header += [f"{problem}: {part}" for problem in both for part in ("θ", "ψ")]
    header += [f"{problem}: y {'raw' if problem in SD_UNITS else 'in sd'}" for problem in problems]
    rows = []
    for method, variant in _rows_of(summary):
        cells = [_cell(known.get((p, method, variant, m))) for p in both for m in ("rmse_theta", "rmse_psi")]
        cells += [
            _cell(known.get((p, method, variant, "rmse_y" if p in SD_UNITS else "rmse_y_sd")))
            for p in problems
        ]
        rows.append((_label(method, variant), *cells))
    return Section("θ and ψ apart, and the response in the other unit", "", tuple(header), tuple(rows))


def interval_section(summary: pd.DataFrame, problems: Sequence[str]) -> list[Section]:
    """Coverage of the 95 % intervals, interval score and CRPS."""
    known = _lookup(summary)
    header = ["method"]
    for problem in problems:
        header.append(f"{problem}: y")
        if any(key[0] == problem and key[3] == "coverage_theta" for key in known):
            header.append(f"{problem}: θ")
    rows, score_rows = [], []
    for method, variant in _rows_of(summary):
        cells, scores = [], []
        for problem in problems:
            for metric in ("coverage_y", "coverage_theta"):
                if metric == "coverage_theta" and f"{problem}: θ" not in header:
                    continue
                entry = known.get((problem, method, variant, metric))
                cells.append("-" if entry is None else f"{100 * entry.value:.0f} %")
            crps, interval = (
                known.get((problem, method, variant, m)) for m in ("crps_y", "interval_score_y")
            )
            scores.append(
                "-" if crps is None or interval is None else f"{crps.value:.3g} / {interval.value:.3g}"
            )
        rows.append((_label(method, variant), *cells))
        score_rows.append((_label(method, variant), *scores))
    return [
        Section(
            "Coverage of the 95 % intervals",
            "Share of test points inside, averaged over replicates. Synthetic problems: intervals of the noise-free "
            "response; real data: of a new measurement.",
            tuple(header),
            tuple(rows),
        ),
        Section(
            "CRPS and interval score of the response",
            "Medians over replicates, CRPS / interval score (95 %), in the response's units; less is better.",
            ("method", *problems),
            tuple(score_rows),
        ),
    ]


def paired_section(pairs: pd.DataFrame, problems: Sequence[str], reference: str) -> Section:
    """Every method against the reference, replicate by replicate."""
    entries: Any = pairs.itertuples(index=False)
    known = {(row.problem, row.method, row.variant): row for row in entries}
    rows = []
    for method, variant in _rows_of(pairs):
        cells = []
        for problem in problems:
            row = known.get((problem, method, variant))
            cells.append(
                "-"
                if row is None
                else f"{row.ratio:.2f} [{row.lower:.2f}, {row.upper:.2f}], {100 * row.reference_better:.0f} %"
            )
        rows.append((_label(method, variant), *cells))
    return Section(
        f"Paired with {reference}",
        f"Median over replicates of RMSE_y / RMSE_y of {reference} on the same data [95 % bootstrap interval], and the "
        f"share of replicates on which {reference} is better. An interval that holds 1 shows no difference. Splits of "
        "one real data set are not independent data sets: their intervals speak of the splits only.",
        ("method", *problems),
        tuple(rows),
    )


def time_section(summary: pd.DataFrame, problems: Sequence[str]) -> Section:
    """Seconds of a fit, with ratios to NFC beside the printed ratios (the paper's machine is unknown)."""
    known = _lookup(summary)
    rows = []
    for method, variant in _rows_of(summary):
        cells = []
        for problem in problems:
            entry = known.get((problem, method, variant, "seconds"))
            base = known.get((problem, "nfc", "", "seconds"))
            printed = PRINTED_SECONDS.get(problem, {})
            text = "-" if entry is None else f"{entry.value:.2f} s"
            if entry is not None and base is not None:
                text += f" = {entry.value / base.value:.2g}×"
            if variant == "" and method in printed and "nfc" in printed:
                text += f" ({printed[method] / printed['nfc']:.2g}×)"
            cells.append(text)
        rows.append((_label(method, variant), *cells))
    return Section(
        "Computation time",
        "Median seconds of one fit and its ratio to NFC's; the paper's ratio in round brackets. The first fit of a "
        "rival on a case also fits the surrogate that the others share.",
        ("method", *problems),
        tuple(rows),
    )


def anchor_sections(values: Mapping[str, Any]) -> list[Section]:
    """Anchor-search times against n, and the graph's constants."""
    times = {(row["runs"], row["model"]): row for row in values["times"]}
    counts = sorted({runs for runs, _ in times})
    rows = tuple(
        (
            str(runs),
            f"{1e3 * times[runs, 'path']['seconds']:.1f} ms (< 1 s)",
            f"{1e3 * times[runs, 'tree']['seconds']:.1f} ms ({PRINTED_TREE_SECONDS.get(runs, float('nan')):.1f} s)",
            f"{1e3 * times[runs, 'tree']['longest']:.1f} ms",
            str(times[runs, "tree"]["status"]),
        )
        for runs in counts
    )
    graph = []
    for row in values["graph"]:
        printed = PRINTED_GRAPH.get(row["problem"])
        if "message" in row:
            graph.append((row["problem"], "-", "-", "-", "-", row["message"]))
            continue
        radius, penalty = row["radius"], row["penalty"]
        graph.append(
            (
                row["problem"],
                f"{row['lambda']:g}",
                "-" if radius is None else f"{radius:.3g}",
                "-" if penalty is None else f"{penalty:.3g}",
                "-" if printed is None else f"{printed[0]:g}, {printed[1]:g}, {printed[2]:g}",
                row["status"],
            )
        )
    return [
        Section(
            "Anchor search against the number of runs",
            "Problem 1 with n runs, median of five draws; the paper's seconds in round brackets.",
            ("n", "path", "tree", "tree, longest", "tree status"),
            rows,
        ),
        Section(
            "Graph parameters",
            "Chosen automatically on the standardised scale (r by the sites' distances, M large enough for a tree); "
            "the paper's r is on the raw scale.",
            ("problem", "λ", "r", "M", "printed λ, r, M", "tree status"),
            tuple(graph),
        ),
    ]


def residual_section(table: pd.DataFrame, method: str) -> Section:
    """Appendix E on out-of-sample residuals."""
    rows = []
    entries: Any = table.itertuples(index=False)
    for row in entries:
        printed = PRINTED_RESIDUALS.get(row.problem)
        place = {"Shapiro-Wilk": 0, "t": 1}.get(row.test)
        beside = "-" if printed is None or place is None else f"{printed[place]:.3f}"
        permuted = "-" if pd.isna(row.permutation_p_value) else f"{row.permutation_p_value:.3f}"
        rows.append(
            (row.problem, row.test, row.ordered_by or "-", str(row.n), f"{row.p_value:.3f}", permuted, beside)
        )
    return Section(
        f"Residual tests of {method}",
        "First replicate, test points or all folds of a split. With 5 to 12 residuals these tests have almost no "
        "power: a test that does not reject validates nothing.",
        ("problem", "test", "ordered by", "n", "p", "p by permutation", "printed p"),
        tuple(rows),
    )


def failure_section(scores: pd.DataFrame, records: Mapping[str, Mapping[str, Any]]) -> Section:
    """What did not run, and why."""
    reasons: dict[tuple[str, str, str], int] = {}
    for record in records.values():
        if record["status"] != "ok":
            key = (record["problem"], _label(record["method"], record["variant"]), record["message"])
            reasons[key] = reasons.get(key, 0) + 1
    rows = tuple(
        (problem, method, str(count), message.replace("|", "/"))
        for (problem, method, message), count in reasons.items()
    )
    count = len(records)
    words = f"{count} trials on {scores['problem'].nunique()} problems; {sum(reasons.values())} gave no prediction."
    header = ("problem", "method", "trials", "message") if rows else ()
    return Section("Trials without a result", words, header, rows)
