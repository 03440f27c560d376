"""Experiments are found by name or file, say what they are, and come with the package."""

from __future__ import annotations

import importlib.util
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ablation_tables import subject

import bestofn.content
from bestofn.ablation import Chart, Experiment, Points, PValue, Series, Setting, Share, Sheet, Subject
from bestofn.ablation.experiment import builtin, declares, is_builtin, load, read
from bestofn.ablation.finding import plain
from bestofn.ablation.recipe import rule
from bestofn.content import content_root
from bestofn.errors import ContentError, UsageError

OWN = """
from bestofn.ablation import Experiment
from bestofn.ablation.recipe import rule
EXPERIMENT = Experiment(name="own", question="Is it?", source="here",
                        arms=(rule("random"), rule("gate-shortest")), reference="random")
"""


def test_the_built_in_experiments_say_what_they_are() -> None:
    """Each is called like its file, asks a question and names its source."""
    found = {experiment.name: experiment for experiment in builtin()}
    assert {"features", "protocol", "learning_curve", "transfer", "n", "cost", "headline"} <= set(found)
    for name, experiment in found.items():
        assert (content_root("experiments") / f"{name}.py").is_file()
        assert experiment.question.endswith("?")
        assert experiment.source
        assert experiment.run is not None or experiment.reference in [arm.name for arm in experiment.arms]
        names = [arm.name for arm in experiment.arms]
        assert len(set(names)) == len(names)


def test_other_scripts_are_no_experiments() -> None:
    """Scripts beside them are not listed, and looking for experiments does not run them."""
    names = [experiment.name for experiment in builtin()]
    for script in ("hello", "calibrate", "injection"):
        assert script not in names
        assert not declares(content_root("experiments") / f"{script}.py")
    with pytest.raises(
        ContentError, match=r"no experiment 'hello': built in are .*features.*; for one of your own give"
    ):
        load("hello")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    """A path that ends in .py is the user's own experiment, even one called like a built-in one."""
    file = tmp_path / "features.py"
    file.write_text(OWN)
    assert load(str(file)).name == "own"
    assert is_builtin("features")
    assert is_builtin(str(content_root("experiments") / "features.py"))
    assert not is_builtin(str(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "declares no experiment: it must set EXPERIMENT = Experiment(name=..., question=..., source=..., "),
        ("EXPERIMENT = 3\n", "declares no experiment"),
        ("import nothing_like_it\n", "fails as it is read: ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("def\n", "fails as it is read: SyntaxError"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    """The error names the file and what to write."""
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(ContentError) as error:
        read(file)
    assert str(file) in str(error.value)
    assert said in str(error.value)


def test_what_was_given_is_checked() -> None:
    """Too few pools, and inputs that the experiment does not know, are errors."""
    own = Experiment("own", "Is it?", "here", (rule("random"),), "random", inputs={"second": "another judge"})
    with pytest.raises(UsageError, match="'own' needs a pool: give --pool POOL"):
        own.measure(Setting(()))
    with pytest.raises(UsageError, match="'own' takes no input 'third': those of --with are second"):
        own.measure(Setting((subject(4),), inputs={"third": "x"}))
    with pytest.raises(UsageError, match="'transfer' needs 2 pools or more: give --pool several times"):
        load("transfer").measure(Setting((subject(4),)))


def test_without_a_run_the_arms_are_compared() -> None:
    """One comparison a pool, and everything that shaped the finding stands in it."""
    own = Experiment("own", "Is it?", "here", (rule("random"), rule("gate-shortest")), "random")
    pool = subject(12)
    finding = own.measure(Setting((pool,), seed=4, resamples=300))
    [comparison] = finding.comparisons
    assert comparison.reference == "random"
    assert finding.pools[0].digest == pool.table.digest
    assert finding.settings["seed"] == 4
    assert finding.as_dict()["comparisons"][0]["rows"][1]["arm"] == "gate-shortest"
    assert finding.lacking == ()


def test_pieces_are_sorted_by_what_they_are() -> None:
    """Tables, charts and remarks come out in the order in which they were given; a remark stands once."""
    sheet = Sheet("s", ("a", "b"), (("x", Share(0.5)), ("y", None)))
    chart = Chart("c", "title", "x", "y", (Series("line", (1.0, 2.0), (0.1, float("nan"))),))
    own = Experiment("own", "Is it?", "here", run=lambda setting: ["said", sheet, chart, "said"])
    content = own.measure(Setting((subject(4),))).as_dict()
    assert content["remarks"] == ["said"]
    assert content["tables"] == [{"title": "s", "header": ["a", "b"], "rows": [["x", 0.5], ["y", None]], "note": ""}]
    assert content["charts"][0]["series"][0]["y"] == [0.1, None]


def test_plain_data_is_what_json_holds() -> None:
    """No NaN, no tuple, no numpy, and no digits beyond the ninth."""
    assert plain({"a": (1, 2.0000000001, float("inf")), "b": Points(-0.0)}) == {"a": [1, 2.0, None], "b": 0.0}
    assert plain(PValue(0.25)) == 0.25


def test_suspect_pools_are_remarked_on() -> None:
    """A column that repeats the outcome, and recordings without a turn of the agent, stand in the finding."""
    own = Experiment("own", "Is it?", "here", (rule("random"),), "random")
    rows = subject(6).table
    told = rows.with_columns(["leak"], rows.rewards[:, None])
    [said] = own.measure(Setting((Subject.of("p", told),))).remarks
    assert said.startswith("p: column 'leak' tells the outcome exactly in all 24 labelled rows")
    bare = replace(rows, empty=np.ones(len(rows), dtype=np.bool_))
    [said] = own.measure(Setting((Subject.of("p", bare),))).remarks
    assert said == "p: no recording holds a turn of the agent, so no feature tells the attempts apart"


def test_experiments_come_with_the_package(tmp_path: Path) -> None:
    """Laid out as a wheel lays them out, inside the package, they are found there."""
    package = tmp_path / "site" / "bestofn"
    (package / "experiments").mkdir(parents=True)
    (package / "experiments" / "one.py").write_text(OWN)
    shutil.copy(bestofn.content.__file__, package / "content.py")
    spec = importlib.util.spec_from_file_location("content_in_a_wheel", package / "content.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.content_root("experiments") == package / "experiments"
    assert module.builtin_names("experiments", ".py") == ["one"]
    assert read(package / "experiments" / "one.py").name == "own"


def test_the_wheel_takes_experiments_and_not_their_results() -> None:
    """The build maps the folder into the package, without speed measurements and results."""
    project = Path(__file__).resolve().parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("needs the checkout's pyproject.toml, which an installed wheel does not bring")
    build = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert "experiments" in build["only-include"]
    assert build["targets"]["wheel"]["sources"]["experiments"] == "bestofn/experiments"
    assert {"/experiments/bench", "/experiments/results"} <= set(build["targets"]["wheel"]["exclude"])


def test_figures_show_arms_and_charts(tmp_path: Path) -> None:
    """One figure a comparison and chart, with the names of arms and lines, and plain numbers on a logarithmic axis."""
    from bestofn.ablation.figure import figures
    from bestofn.report.plots import write_plots

    own = Experiment("own", "Is it?", "here", (rule("random"), rule("gate-shortest"), rule("majority")), "random")
    chart = Chart("c", "paid", "usd", "accuracy", (Series("a line", (0.0, 0.002, 30.0), (0.1, 0.2, 0.3)),
                                                   Series("a point", (0.5,), (0.2,))), log_x=True)  # fmt: skip
    finding = replace(own.measure(Setting((subject(12),), resamples=100)), charts=(chart,))
    plots = figures(finding)
    assert [plot.name for plot in plots] == ["own", "own-c"]
    write_plots(plots, tmp_path)
    arms, lines = ((tmp_path / f"{name}.svg").read_text(encoding="utf-8") for name in ("own", "own-c"))
    assert ">gate-shortest<" in arms
    assert ">majority<" not in arms
    for text in (">paid<", ">a line<", ">a point<", ">usd<"):
        assert text in lines
    assert "mathdefault" not in lines
