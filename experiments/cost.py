"""What accuracy costs: every selector by calls, tokens and dollars, and a judge asked only where a free rule is unsure.

python experiments/cost.py --pool demo
"""

from collections.abc import Iterator

from bestofn.ablation import Chart, Comparison, Experiment, Piece, Series, Setting, Share, Sheet, Subject
from bestofn.ablation.frontier import FREE_SELECTOR, Point, frontier, where_unsure
from bestofn.ablation.recipe import both, forward, heuristics, llm, mean_rank, reweight, rule

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Of the tasks, those where the free selector is least sure."""
ARMS = (
    *(
        rule(name)
        for name in ("random", "gate", "shortest", "fewest-steps", "fewest-errors", "majority", FREE_SELECTOR)
    ),
    reweight("heuristics, reweight", heuristics),
    forward("heuristics, forward", heuristics),
    *(where_unsure(share) for share in SHARES),
    mean_rank("judge", llm, what="mean rank over the judge's columns, no labels"),
    reweight("both, reweight", both, asks=True),
    forward("both, forward", both, asks=True),
)
KINDS = ("calls", "tokens", "usd")
"""What is paid with, each with a frontier of its own."""


def run(setting: Setting) -> Iterator[Piece]:
    """Every arm with what it takes a task; the arms that none beats."""
    for number, subject in enumerate(setting.subjects, start=1):
        comparison = setting.compare(subject, ARMS, reference=FREE_SELECTOR, title="costs are a task's")
        yield comparison
        yield on_the_frontier(subject, comparison)
        for kind in KINDS:
            yield from chart(f"{kind}-{number}", kind, subject, comparison)


def points(comparison: Comparison, kind: str) -> list[Point]:
    """The arms by one kind of cost."""
    return [Point(row.arm, getattr(row.cost, kind), row.accuracy) for row in comparison.rows if not row.optimistic]


def on_the_frontier(subject: Subject, comparison: Comparison) -> Sheet:
    """For each kind of cost, the arms that none beats."""
    rows = []
    for kind in KINDS:
        for point in frontier(points(comparison, kind)):
            row = comparison.row(point.name)
            rows.append((kind, point.name, point.cost, Share(point.accuracy), row.verdict or "reference"))
    return Sheet(
        f"{subject.name}: arms that none beats",
        ("paid in", "arm", "a task", "accuracy", f"difference to {FREE_SELECTOR}"),
        tuple(rows),
        "cheapest first; what cannot be counted or priced stands on no frontier",
    )


def chart(name: str, kind: str, subject: Subject, comparison: Comparison) -> Iterator[Chart]:
    """Every arm as a point, the frontier as steps; nothing where no arm costs anything."""
    mine = [
        point for point in points(comparison, kind) if point.cost == point.cost and point.accuracy == point.accuracy
    ]
    if not any(point.cost for point in mine):
        return
    best, most = frontier(mine), max(point.cost for point in mine)
    xs, ys = [point.cost for point in best], [point.accuracy for point in best]
    line = Series("frontier", (*xs, most), (*ys, ys[-1]))
    yield Chart(
        name,
        f"{subject.name}: accuracy against {kind} a task",
        f"{kind} a task",
        "accuracy",
        (line, *(Series(point.name, (point.cost,), (point.accuracy,)) for point in mine)),
        "Steps: the most accuracy for so much.",
        steps=True,
        log_x=True,
    )


EXPERIMENT = Experiment(
    name="cost",
    question="What does accuracy cost in calls, tokens and dollars, and does asking only when unsure save it?",
    source="AdaMAST, appendix B.5 (cost of selection); Table 16 (a cheaper verifier)",
    arms=ARMS,
    run=run,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
