"""From records to files: tidy tables, a Markdown and an HTML report, and figures."""

from dataclasses import dataclass
from pathlib import Path

from ..methods.registry import DEFAULT_METHOD
from ..result.arviz_export import installed_versions
from .plan import StudyPlan
from .records import RecordStore
from .residual_table import residual_table
from .score_table import aggregate, paired_comparison, tidy_scores
from .sections import (
    anchor_sections,
    apart_section,
    error_section,
    failure_section,
    interval_section,
    paired_section,
    residual_section,
    time_section,
)
from .text_tables import Section, to_html, to_markdown

__all__ = ["StudyOutcome", "write_report"]

WHAT_DIFFERS = """\
The paper shows one random draw per synthetic problem and one split of each real data set; here every number is a \
median over replicates, so a printed value is one point of a distribution, expected in or near its 10–90 % range.

Decisions that move numbers: measurement noise N(0, 0.05) is a variance; errors are taken against the noise-free \
response; problem 2 has a cell-centred grid and test points where its θ is defined; problem 3 draws (θ, ψ) pairs; \
PVA uses the 11 public means and 149 runs, shifted inside each training fold; spot weld has four folds of three; the \
rivals stand on an anisotropic surrogate fitted by maximum likelihood, better than the isotropic, zero-mean one of \
their original codes. Rows that the paper does not have: joint, koh, constant, gp, linear, mean. nfc and pfc are run \
on problem 3 too: here they take several calibration variables."""


@dataclass(frozen=True)
class StudyOutcome:
    """The report's summary for the terminal, and how many trials failed."""

    text: str
    num_failed: int


def write_report(
    store: RecordStore,
    plan: StudyPlan,
    *,
    command: str,
    paper: bool,
    figures: bool = True,
    markdown: str | None = None,
) -> StudyOutcome:
    """Write scores (CSV, Parquet), summary.csv, paired.csv, report.md, report.html and figures/ to the study's folder.

    Parameters
    ----------
    command
        What rebuilds the study, for the report's head.
    paper
        Whether to add the paper's anchor-search and graph tables.
    markdown
        A further file to write the Markdown report to.
    """
    wanted = {trial.key for group in plan.groups() for trial in group}
    records = {key: record for key, record in store.read().items() if key in wanted}
    folder = store.folder
    scores = tidy_scores(records.values())
    summary = aggregate(scores)
    methods = [entry.method for entry in plan.variants if entry.name == ""] or [plan.variants[0].method]
    reference = DEFAULT_METHOD if DEFAULT_METHOD in methods else methods[0]
    pairs = paired_comparison(scores, reference)
    scores.to_csv(folder / "scores.csv", index=False)
    scores.to_parquet(folder / "scores.parquet", index=False)
    summary.to_csv(folder / "summary.csv", index=False)
    pairs.to_csv(folder / "paired.csv", index=False)
    problems = [key for key in plan.problems if key in set(summary["problem"])]
    sections: list[Section] = []
    if paper:
        sections.append(Section("What differs from the paper, and why", WHAT_DIFFERS))
    sections += [
        error_section(summary, problems, target="y"),
        error_section(summary, problems, target="θ"),
        apart_section(summary, problems),
        *interval_section(summary, problems),
        paired_section(pairs, problems, reference),
        time_section(summary, problems),
    ]
    if paper:
        from .anchor_search import anchor_search

        sections += anchor_sections(anchor_search(folder, plan.problems))
    shown = [key for key in (reference, "bnmc") if key in methods]
    residuals = {key: residual_table(records.values(), key) for key in shown}
    sections += [residual_section(table, key) for key, table in residuals.items() if len(table)]
    if figures:
        from .figures import draw_bands

        for key in shown:
            names = draw_bands(records.values(), key, folder / "figures")
            sections.append(
                Section(f"95 % bands of {key} on the test points", figures=tuple(sorted(names.values())))
            )
    sections.append(failure_section(scores, records))
    sections.append(_versions_section(plan))
    title = "The paper's tables, with error bars" if paper else "Study"
    (folder / "report.md").write_text(
        to_markdown(title, command, sections, figure_folder="figures"), encoding="utf-8"
    )
    (folder / "report.html").write_text(
        to_html(title, command, sections, figure_folder="figures"), encoding="utf-8"
    )
    if markdown:
        without_figures = [section for section in sections if not section.figures]
        Path(markdown).write_text(to_markdown(title, command, without_figures), encoding="utf-8")
    failed = sum(record["status"] == "failed" for record in records.values())
    first = error_section(summary, problems, target="y")
    return StudyOutcome(to_markdown(title, command, [first, failure_section(scores, records)]), failed)


def _versions_section(plan: StudyPlan) -> Section:
    versions = ", ".join(f"{name} {number}" for name, number in installed_versions().items())
    return Section(
        "How it was run",
        f"{plan.replicates} replicates of synthetic problems, {plan.splits} random splits of real data, first seed "
        f"{plan.first_seed}. {versions}.",
    )
