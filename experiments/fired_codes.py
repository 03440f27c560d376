"""Do failing attempts show more failure codes than passing ones, and is the one with the fewest a good pick?

python experiments/fired_codes.py --pool demo
"""

from collections.abc import Iterator

import numpy as np

from bestofn.ablation import (
    Chart,
    Experiment,
    Lacking,
    Made,
    Piece,
    PValue,
    Recipe,
    Series,
    Setting,
    Share,
    Sheet,
    Subject,
)
from bestofn.ablation.finding import Cell
from bestofn.ablation.fired import Fired, Tested, by_code, difference_p, fired, histogram, in_swing, selector_p
from bestofn.ablation.recipe import mean_rank, named, oracle, rule

REFERENCE = "random"
MOST_CODES = 15
"""Codes that the table of single codes shows."""


def run(setting: Setting) -> Iterator[Piece]:
    """The selector beside rules; counts by outcome, medians and p-values; single codes."""
    for number, subject in enumerate(setting.subjects, start=1):
        try:
            found: Fired | Lacking = fired(setting, subject)
        except Lacking as reason:
            found = reason
        arms = (rule("random"), fewest(found), rule("gate-shortest"), oracle())
        yield setting.compare(subject, arms, reference=REFERENCE, title="the attempt with the fewest codes")
        if isinstance(found, Fired):
            yield from found.remarks
            yield figures(setting, found)
            yield from distribution(found, f"counts-{number}")
            yield codes(found)


def fewest(found: Fired | Lacking) -> Recipe:
    """The attempt that shows the fewest codes."""

    def make(setting: Setting, _: Subject) -> Made:
        if isinstance(found, Lacking):
            raise found
        return mean_rank("", named(found.column), asks=False).make(setting, found.subject)

    return Recipe("fewest codes", "the attempt that shows the fewest failure codes, no labels", make)


def figures(setting: Setting, found: Fired) -> Sheet:
    """Medians by outcome, and both figures under shuffled labels."""
    rewards, told = found.subject.table.rewards, ~np.isnan(found.counts)
    rows: list[tuple[Cell, ...]] = []
    for name, chosen in (("swing tasks", in_swing(found.subject)), ("all tasks", np.ones(len(rewards), dtype=bool))):
        for outcome, value in (("pass", 1.0), ("fail", 0.0)):
            mine = found.counts[chosen & told & (rewards == value)]
            median, mean = (float(np.median(mine)), float(mean_of(mine))) if len(mine) else (None, None)
            rows.append((f"codes of {outcome} attempts, {name}", len(mine), median, mean, None, None))
    picked, apart = selector_p(found, seed=setting.seed), difference_p(found, seed=setting.seed)
    n_swing = found.subject.figures.n_swing
    rows.append(("accuracy of fewest codes on swing tasks", n_swing, None, *_tested(picked, Share)))
    rows.append(("mean codes, fail less pass, on swing tasks", int((in_swing(found.subject) & told).sum()), None,
                 *_tested(apart, float)))  # fmt: skip
    return Sheet(
        f"{found.subject.name}: fired codes and outcome",
        ("figure", "n", "median", "mean or value", "by chance", "p"),
        tuple(rows),
        f"by chance, p: {picked.draws:,} shuffles of the labels within swing tasks, one-sided (as good or better). "
        f"{int((~told).sum())} attempts have no diagnosis and are in no median",
    )


def mean_of(values: np.ndarray) -> float:
    """Mean without the noise of the order in which it is summed."""
    return float(np.sort(values).mean())


def distribution(found: Fired, name: str) -> Iterator[Piece]:
    """How many passing and failing attempts of swing tasks show each number of codes."""
    counts = histogram(found, in_swing(found.subject))
    passed, failed = (sum(pair[side] for pair in counts.values()) for side in (0, 1))
    rows = tuple((n, p, f, Share(p / passed) if passed else None, Share(f / failed) if failed else None)
                 for n, (p, f) in counts.items())  # fmt: skip
    title = f"{found.subject.name}: fired codes per attempt of swing tasks"
    yield Sheet(title, ("codes", "pass", "fail", "of passing", "of failing"), rows)
    if passed and failed:
        xs = tuple(float(n) for n in counts)
        series = (
            Series(f"pass (n = {passed})", xs, tuple(p / passed for p, _ in counts.values())),
            Series(f"fail (n = {failed})", xs, tuple(f / failed for _, f in counts.values())),
        )
        yield Chart(name, title, "fired codes", "share of attempts", series, "Passing and failing attempts apart.")


def codes(found: Fired) -> Sheet:
    """The codes that tell most, by how many passing and failing attempts of swing tasks show them."""
    rows = by_code(found, in_swing(found.subject))
    return Sheet(
        f"{found.subject.name}: single codes in swing tasks",
        ("code", "pass", "fail"),
        tuple(rows[:MOST_CODES]),
        f"attempts that show it, those with most failing over passing ones first; {len(rows)} codes fired in all",
    )


def _tested(found: Tested, kind: type[float]) -> tuple[Cell, ...]:
    if not found.draws:
        return (None, None, None)
    return (kind(found.observed), kind(found.null_mean), PValue(found.p_value))


EXPERIMENT = Experiment(
    name="fired_codes",
    question="Do failing attempts show more failure codes than passing ones, and is the fewest a good pick?",
    source="AdaMAST, Figure 5 and section 4.4",
    run=run,
    inputs={
        "judgments": "recorded diagnoses, a judgments.json as AdaMAST writes it, instead of asking a model",
        "codes": "criteria that ask for codes, a name or a file, in place of 'diagnosis'",
    },
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
