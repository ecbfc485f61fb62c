"""Plans: what they say, what they refuse."""

import pytest

from funcal.errors import SettingsError
from funcal.study.plan import StudyPlan, TrialDescription, Variant, paper_plan, plan_from_file

PLAN = """
problems = ["synthetic-1", "spot-weld"]
methods = ["linear", "nfc"]
replicates = 3
splits = 2

[[settings]]
method = "nfc"
name = "isotropic"
surrogate.kind = "isotropic-zero-mean"
"""


def test_a_file_gives_problems_methods_and_variants(tmp_path) -> None:
    """Three replicates of problem 1, two splits of four folds of the weld data, three rows of methods."""
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    plan = plan_from_file(tmp_path / "plan.toml")
    assert [(entry.method, entry.name) for entry in plan.variants] == [
        ("linear", ""),
        ("nfc", ""),
        ("nfc", "isotropic"),
    ]
    groups = plan.groups()
    assert len(groups) == 3 + 2 * 4
    assert all(len(group) == 3 for group in groups)
    assert len({trial.key for group in groups for trial in group}) == 33


def test_changed_settings_make_another_trial() -> None:
    """A record of other settings is never taken for this trial's."""
    one = TrialDescription("synthetic-1", 0, 0, "nfc", "v", '{"num_starts": 5}')
    two = TrialDescription("synthetic-1", 0, 0, "nfc", "v", '{"num_starts": 6}')
    assert one.key != two.key
    assert one.method_seed != two.method_seed


def test_the_papers_plan() -> None:
    """Five problems, eleven methods, 50 seeds, 20 splits; a quick form narrows it."""
    plan = paper_plan()
    assert len(plan.variants) == 11
    assert (plan.replicates, plan.splits) == (50, 20)
    quick = paper_plan(seeds=5, methods=("nfc",), ten_dimensional=True)
    assert (quick.replicates, quick.splits) == (5, 2)
    assert "ten-dimensional" in quick.problems
    assert plan.narrowed(problems=("pva",), methods=("linear",)).problems == ("pva",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problems = [", "cannot be read as TOML"),
        ('problem = ["synthetic-1"]', "holds 'problem'"),
        ('problems = ["synthetic-9"]\nmethods = ["nfc"]', "no test problem is called 'synthetic-9'"),
        ('problems = ["synthetic-1"]\nmethods = ["nfcc"]', "no method 'nfcc'"),
        ('problems = ["synthetic-1"]\nmethods = []', "at least one problem and one method"),
        ('problems = ["synthetic-1"]\nmethods = ["nfc"]\nreplicates = 0', "at least one replicate"),
        ('problems = ["synthetic-1"]\n[[settings]]\nmethod = "nfc"', "names its method and has a name"),
        (
            'problems = ["synthetic-1"]\n[[settings]]\nmethod = "nfc"\nname = "a"\nstarts = 3',
            "no setting 'starts'",
        ),
    ],
)
def test_mistakes_in_a_plan_are_sentences(text: str, message: str, tmp_path) -> None:
    """Before anything runs."""
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        plan_from_file(tmp_path / "plan.toml")


def test_settings_of_a_plan_are_values(tmp_path) -> None:
    """A plan goes into the study's folder as JSON."""
    plan = StudyPlan(("synthetic-1",), (Variant("mean"),))
    assert plan.to_values()["problems"] == ("synthetic-1",)
