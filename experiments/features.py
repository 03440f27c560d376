"""Which features carry the result: heuristics, a model's scores, or both; and does dropping any one of them matter?

python experiments/features.py --pool demo
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Setting, Sheet, Subject
from bestofn.ablation.recipe import Recipe, both, forward, heuristics, llm, oracle, reweight, rule
from bestofn.selector import task_ranks

ARMS = (
    rule("random"),
    rule("gate-shortest"),
    forward("heuristics, forward", heuristics),
    forward("LLM, forward", llm, asks=True),
    forward("both, forward", both, asks=True),
    reweight("heuristics, reweight", heuristics),
    reweight("LLM, reweight", llm, asks=True),
    reweight("both, reweight", both, asks=True),
    oracle(),
)


def without(column: str, subject: Subject) -> Recipe:
    """Re-weighting of all features but one."""
    kept = [name for name in both(subject) if name != column]
    return reweight(f"without {column}", lambda _: kept, what="re-weighting of all other features")


def varies(subject: Subject, column: str) -> bool:
    """Whether a column tells any two attempts of a task apart; without one that does not, all is as with it."""
    return bool(task_ranks(subject.table, (column,)).any())


def run(setting: Setting) -> Iterator[Piece]:
    """The families; each feature left out; how often each is chosen."""
    for subject in setting.subjects:
        yield setting.compare(subject, ARMS, reference="heuristics, forward", title="families of features")
        full = setting.with_llm(subject) if subject.llm or setting.judge is not None else subject
        told = [name for name in both(full) if varies(full, name)]
        arms = [reweight("all features", both), *(without(column, full) for column in told)]
        yield setting.compare(full, arms, reference="all features", title="each feature left out, reweight")
        silent = sorted(set(both(full)) - set(told))
        if silent:
            yield f"{subject.name}: left out of no arm, as they differ within no task: {', '.join(silent)}"
        fit = full.fits(both(full), setting.max_features).forward
        rows = tuple((name, n, n / fit.selections) for name, n in fit.chosen.items())
        yield Sheet(
            f"{subject.name}: how often forward selection chose each feature, in {fit.selections} nested selections",
            ("feature", "times", "share"),
            rows,
            f"never chosen: {len(fit.columns) - len(rows)} of {len(fit.columns)}",
        )


EXPERIMENT = Experiment(
    name="features",
    question="Which features carry the result: heuristics, a model's scores or both, and does any one of them matter?",
    source="AdaMAST, section 3.5 (features and their selection); Table 17 (which features are selected)",
    arms=ARMS,
    run=run,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
