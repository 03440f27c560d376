"""The report as a file: self-contained, honest about labels, and fair to every trajectory."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report_pool import attempt, hostile, ordinary

from bestofn.catalogue import load_pool
from bestofn.errors import UsageError
from bestofn.report import html
from bestofn.report.html import Report, report
from bestofn.scoring import score_pool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report(load_pool(ordinary(tmp_path_factory.mktemp("pool") / "mine")), null=10)


@pytest.fixture(scope="module")
def page(made: Report) -> str:
    return made.html()


class Tags(HTMLParser):
    """Start tags with their attributes, and whether every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def tags(page: str) -> Tags:
    parser = Tags()
    parser.feed(page)
    return parser


def test_the_file_needs_nothing_else(page: str) -> None:
    """No element loads anything: no src, no href but to places in the page, no import in the style."""
    for tag, attributes in tags(page).seen:
        assert "src" not in attributes, tag
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
    style = page[page.index("<style>") : page.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style


def test_every_element_is_closed_in_order(page: str, tmp_path: Path) -> None:
    """Also where every text of the recordings is made of tags."""
    for text in (page, report(load_pool(hostile(tmp_path / "bad")), null=0).html()):
        parsed = tags(text)
        assert parsed.wrong == []
        assert parsed.open == []


def test_the_policy_names_this_style_and_this_script(page: str) -> None:
    """The hashes of the policy are those of the one style and the one script that can run."""
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    told = policy[1].replace("&#39;", "'")
    assert told.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:")
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in told


def test_the_evaluation_and_every_selector_are_there(made: Report, page: str) -> None:
    """Each row of the evaluation stands in the table, with its interval in figures."""
    assert made.evaluation is not None
    for row in made.evaluation.rows:
        assert f"<bdi>{row.selector}</bdi>" in page
    assert page.count('class="interval"') >= 10
    assert [plot.name for plot in made.plots] == ["gap", "null", "within", "codes"]


def test_attempts_show_codes_with_words_of_the_recording(made: Report, page: str) -> None:
    """A traceback in an output fires its code, with the line it stands in and the step."""
    view = next(a for task in made.tasks for a in task.attempts if a.id == "task0.b")
    fired = {one.feature: one for one in view.fired}
    assert fired["n_traceback"].quote == "Traceback (most recent call last):"
    assert fired["n_traceback"].value == 2.0
    assert "n_characters" not in fired
    assert fired["n_traceback"].step is not None
    steps = next(t for t in load_pool(made.table.about["pool"]).trajectories if t.id == "task0.b").steps
    assert any("Traceback" in o.text for o in steps[fired["n_traceback"].step - 1].observations)
    assert "<q>Traceback (most recent call last):</q>" in page


def test_without_labels_no_outcome_is_shown_or_used(made: Report, tmp_path: Path) -> None:
    """`labels=False` gives the page that the same recordings without rewards give."""
    bare = tmp_path / "mine"
    bare.mkdir()
    root = Path(made.table.about["pool"])
    for file in root.iterdir():
        records = [json.loads(line) for line in file.read_text().splitlines()]
        for record in records:
            del record["reward"]
        (bare / file.name).write_text("".join(json.dumps(record) + "\n" for record in records))
    hidden = report(load_pool(root), labels=False)
    page = hidden.html()
    assert hidden.evaluation is None
    assert hidden.plots == ()
    assert "mark pass" not in page
    assert "mark fail" not in page
    assert "Pass@1" not in page
    unlabelled = report(load_pool(bare))
    assert [task._replace(anchor="") for task in hidden.tasks] == [t._replace(anchor="") for t in unlabelled.tasks]


def test_outcomes_stand_apart_from_what_the_selector_saw(page: str) -> None:
    """They are in a part of the table of their own, which says so."""
    assert 'class="hindsight"' in page
    assert "the ranking above did not see it" in page


def test_long_trajectories_are_trimmed_fairly_and_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Short trajectories stay whole; a long one keeps beginning and end, with the number of characters left out."""
    root = tmp_path / "long"
    root.mkdir()
    big = "\n".join(f"line {n}" for n in range(60_000))
    records = [attempt("t", "short", 1.0, ("hello", "world")), attempt("t", "long", 0.0, ("begin", big))]
    (root / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    monkeypatch.setattr(html, "BODIES", 100_000)
    made = report(load_pool(root), null=0)
    view = {a.id: made.bodies[a.body] for a in made.tasks[0].attempts}
    assert view["short"].trimmed == 0
    assert view["long"].trimmed > 1_000_000
    text = "\n".join(row[3] for row in json.loads(view["long"].json)["rows"])
    assert "line 0\n" in text
    assert "line 59999" in text
    assert "characters are left out here" in text
    assert sum(len(body.json) for body in made.bodies.values()) <= 100_000
    assert "1 of 2 trajectories are trimmed" in made.html()


def test_an_unknown_outcome_is_neither_pass_nor_fail(tmp_path: Path) -> None:
    """It is called unknown, and counted in no figure."""
    root = ordinary(tmp_path / "mine")
    records = [attempt("u", "u.a", None, ("one",)), attempt("u", "u.b", 1.0, ("one", "two"))]
    (root / "u.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    made = report(load_pool(root), null=0)
    labels = {a.id: a.label for task in made.tasks for a in task.attempts}
    assert (labels["u.a"], labels["u.b"]) == ("unknown", "pass")
    assert "1 attempt with an unknown outcome" in made.html()


def test_ties_wrong_picks_and_missing_scores_are_flagged(made: Report) -> None:
    """A tie under `random`, a wrong pick where a passing attempt was passed over, a gap in a model's column."""
    pool = load_pool(made.table.about["pool"])
    tied = report(pool, selector="random", null=0)
    assert all("tie" in task.flags for task in tied.tasks)
    longest = report(pool, selector="longest", null=0)
    assert all({"swing", "wrong"} <= set(task.flags) for task in longest.tasks)
    table = score_pool(pool).table.with_columns(["judge"], np.linspace(0, 1, 12)[:, None])
    table.values[0, -1] = np.nan
    judged = replace(table, about={**table.about, "judge": [{"states": {"judge": {"ok": 11}}}]})
    flags = [task.flags for task in report(pool, table=judged, null=0).tasks]
    assert "missing" in flags[0]
    assert not any("missing" in other for other in flags[1:])


def test_tasks_can_be_chosen_and_figures_stay_those_of_the_pool(made: Report) -> None:
    """`task` narrows what is shown, not what is measured."""
    one = report(load_pool(made.table.about["pool"]), task="task1", null=10)
    assert [task.name for task in one.tasks] == ["task1"]
    assert one.evaluation is not None
    assert made.evaluation is not None
    assert one.evaluation.as_dict() == made.evaluation.as_dict()
    assert len(one.bodies) == 3


def test_a_table_of_another_pool_is_refused(made: Report, tmp_path: Path) -> None:
    """The error names an attempt that the pool does not hold."""
    other = load_pool(ordinary(tmp_path / "other", n_tasks=1))
    with pytest.raises(UsageError, match=r"^the table has 9 attempts that pool '.*' does not hold, such as task1\.a"):
        report(other, table=made.table, null=0)


def test_the_same_pool_gives_the_same_bytes(made: Report, page: str) -> None:
    """Nothing in the page depends on when or in what order it was made."""
    assert report(load_pool(made.table.about["pool"]), null=10).html() == page
