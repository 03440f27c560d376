"""How many labelled tasks does learning need before it beats a rule, or a prior from other pools?

python experiments/learning_curve.py --pool tb2/forgecode --pool tau/airline-gpt4o
"""

from collections.abc import Iterator

from bestofn.ablation import Arm, Chart, Comparison, Experiment, Piece, Points, Series, Setting, Share, Sheet, Subject
from bestofn.ablation.elsewhere import prior
from bestofn.ablation.learning import learn, learn_forward, learn_reweight, sizes
from bestofn.ablation.recipe import forward, heuristics, oracle, reweight, rule

DRAWS = 20
"""Random orders of the tasks at each size; every task is read once in each."""
REFERENCE = "gate-shortest"
FLAT = (
    rule("random"),
    rule("gate"),
    rule(REFERENCE),
    prior("prior, reweight", "reweight"),
    prior("prior, forward", "forward"),
    oracle(),
)
"""What needs no label of this pool."""
LEARNERS = {"reweight": (learn_reweight, reweight), "forward": (learn_forward, forward)}
"""How each is fitted on some tasks, and without each task in turn."""


def run(setting: Setting) -> Iterator[Piece]:
    """One curve a learner, beside what needs no labels of this pool."""
    for number, subject in enumerate(setting.subjects, start=1):
        arms, swing = curve(setting, subject)
        comparison = setting.compare(subject, [*FLAT, *arms.values()], reference=REFERENCE, title="labelled tasks")
        yield comparison
        yield sheet(subject, comparison, arms, swing)
        yield chart(f"curve-{number}", subject, comparison, arms)
    yield (
        f"up to 80% of the tasks: mean over {DRAWS} random orders, each task read once in each, with what other tasks "
        "teach, and p at most too large, as a mean over fits spreads less than one fit; the last point is "
        "leave-one-task-out"
    )


def curve(setting: Setting, subject: Subject) -> tuple[dict[tuple[str, int], Arm], dict[int, float]]:
    """An arm for each learner and number of labelled tasks; and how many swing tasks were among these."""
    columns = subject.heuristics
    learners = {name: how[0](columns) for name, how in LEARNERS.items()}
    arms: dict[tuple[str, int], Arm] = {}
    swing: dict[int, float] = {}
    for size in sizes(subject.figures.n_tasks):
        draws = setting.each(range(DRAWS), f"learning from {size} tasks")
        for name, found in learn(subject, learners, size, draws, seed=setting.seed).items():
            arms[name, size] = Arm(f"{name}, {size} tasks", f"mean of {found.fits} fits", found.by_task)
            swing[size] = found.swing
    last = subject.figures.n_tasks - 1
    for name, how in LEARNERS.items():
        arms[name, last] = how[1](f"{name}, {last} tasks", heuristics).arm(setting, subject)
    swing[last] = subject.figures.n_swing * last / subject.figures.n_tasks
    return arms, swing


def sheet(subject: Subject, comparison: Comparison, arms: dict[tuple[str, int], Arm], swing: dict[int, float]) -> Sheet:
    """Sizes down, learners across."""
    rows = []
    for size in sorted(swing):
        cells: list[float] = []
        for name in LEARNERS:
            row = comparison.row(arms[name, size].name)
            cells += [Share(row.accuracy), Points(row.difference if row.difference is not None else float("nan"))]
        rows.append((size, round(swing[size], 1), *cells))
    header = [part for name in LEARNERS for part in (name, f"vs {REFERENCE}")]
    return Sheet(f"{subject.name}: learning curve", ("labelled tasks", "swing among them", *header), tuple(rows))


def chart(name: str, subject: Subject, comparison: Comparison, arms: dict[tuple[str, int], Arm]) -> Chart:
    """Learners as lines, everything else flat."""
    xs = sorted({size for _, size in arms})
    base = comparison.row(REFERENCE).accuracy
    lines = []
    for learner in LEARNERS:
        rows = [comparison.row(arms[learner, x].name) for x in xs]
        ends = [row.interval or (float("nan"), float("nan")) for row in rows]
        lines.append(
            Series(
                learner,
                tuple(map(float, xs)),
                tuple(row.accuracy for row in rows),
                tuple(base + low for low, _ in ends),
                tuple(base + high for _, high in ends),
            )
        )
    for recipe in FLAT:
        accuracy = comparison.row(recipe.name).accuracy
        if accuracy == accuracy:
            lines.append(Series(recipe.name, (float(xs[0]), float(xs[-1])), (accuracy, accuracy)))
    return Chart(
        name,
        f"{subject.name}: accuracy against labelled tasks",
        "labelled tasks",
        "accuracy",
        tuple(lines),
        f"Bands: 95% interval of the paired difference to {REFERENCE}, laid around it.",
    )


EXPERIMENT = Experiment(
    name="learning_curve",
    question="How many labelled tasks does learning need before it beats a rule, or a prior from other pools?",
    source="our own: what a per-harness selector (AdaMAST, section 3.5) needs",
    arms=FLAT,
    run=run,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
