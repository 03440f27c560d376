"""How does accuracy grow with the number of attempts, from best of 1 to best of N, and how far is the oracle?

python experiments/n.py --pool demo
"""

from collections.abc import Callable, Iterator

import numpy as np

from bestofn.ablation import Arm, Chart, Experiment, Lacking, Piece, Series, Setting, Share, Sheet, Subject
from bestofn.ablation.chooser import Chooser, by_judge, by_reweight, by_rule
from bestofn.ablation.recipe import WHAT, made
from bestofn.ablation.subsets import MOST_ROWS, best_of, best_of_subsets, n_rows
from bestofn.metrics import mean_over_tasks

MOST_N = 64
"""Best of so many at most."""


ARMS: dict[str, tuple[str, Callable[[Setting, Subject], Chooser]]] = {
    **{
        name: (WHAT[name], by_rule(name))
        for name in ("gate", "shortest", "fewest-steps", "fewest-errors", "gate-shortest")
    },
    "reweight": ("re-weighting fitted without each task, features of one attempt alone", by_reweight),
    "judge": ("mean rank over the judge's criteria about one attempt", by_judge),
}
"""What each is, and how it is made."""


def run(setting: Setting) -> Iterator[Piece]:
    """A curve a selector, exact over all subsets."""
    for number, subject in enumerate(setting.subjects, start=1):
        most = int(subject.attempts.max())
        sizes = [n for n in range(1, min(most, MOST_N) + 1) if n_rows(subject, n) <= MOST_ROWS]
        yield from curves(setting, subject, number, sizes)
        yield (
            "an expectation over all subsets of n attempts, each scored for itself: nothing is sampled. Majority and "
            "whatever else compares attempts is left out, since it would have to be measured again in each"
        )
        fewer = int((subject.attempts[~np.isnan(subject.rates)] < most).sum())
        if fewer:
            yield f"{subject.name}: tasks with fewer than {most} known outcomes, for larger n all they have: {fewer}"
        if len(sizes) < min(most, MOST_N):
            yield f"{subject.name}: n stops at {len(sizes)}, where the subsets of all tasks come to {MOST_ROWS:,} rows"


def curves(setting: Setting, subject: Subject, number: int, sizes: list[int]) -> Iterator[Piece]:
    """The largest n as a comparison, then all as table and chart."""
    table, last = subject.table, sizes[-1]
    best = [best_of(np.nan_to_num(table.rewards), table.rewards, table.groups, n) for n in sizes]
    found: dict[str, list[np.ndarray]] = {"random": [subject.rates] * len(sizes)}
    arms = [Arm("random", WHAT["random"], subject.rates)]
    for name, (what, make) in ARMS.items():
        try:
            chooser = make(setting, subject)
        except Lacking as lacking:
            arms.append(Arm.lacking(name, what, len(table.task_names), lacking))
            continue
        view = setting.with_llm(subject) if name == "judge" else subject
        each = setting.each(sizes, f"best of n, {name}")
        found[name] = [best_of_subsets(view, n, chooser.score) for n in each]
        whole = made(view, chooser.score(view.table, view.table.groups), chooser.columns)
        tied = whole.tied if last == subject.attempts.max() else None
        arms.append(Arm(name, what, found[name][-1], tied, whole.missing, whole.asked, whole.cost))
    found["oracle"] = best
    arms.append(Arm("oracle", "the best attempt there is, by the labels", best[-1], optimistic=True))
    yield setting.compare(subject, arms, reference="random", title=f"best of {last}")
    means = {name: tuple(map(mean_over_tasks, curve)) for name, curve in found.items()}
    yield Sheet(
        f"{subject.name}: best of n",
        ("selector", *(f"n = {n}" for n in sizes)),
        tuple((name, *map(Share, values)) for name, values in means.items()),
        "accuracy over all tasks; random is Pass@1 at every n",
    )
    yield Chart(
        f"curve-{number}",
        f"{subject.name}: best of n",
        "attempts to choose among (n)",
        "accuracy",
        tuple(Series(name, tuple(map(float, sizes)), values) for name, values in means.items()),
        "Expectation over all subsets of n attempts.",
    )


EXPERIMENT = Experiment(
    name="n",
    question="How does accuracy grow with the number of attempts to choose among, and how far is the oracle?",
    source="AdaMAST, Table 4 (best of 5 and its oracle), for every n",
    run=run,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
