"""Does it matter whose failures the judge is told of: this domain's, another one's, or a general catalogue's?

python experiments/wrong_domain.py --pool demo
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Points, PValue, Setting, Sheet, Subject
from bestofn.ablation.answers import WAYS, Answers, arms, ask, compare_variants
from bestofn.ablation.domains import RECOMPILED, correlations, mean_of, variants
from bestofn.ablation.second import judge_of
from bestofn.ablation.variant import ARMS, OWN, WRITE, Variant, write


def run(setting: Setting) -> Iterator[Piece]:
    """Every taxonomy's codes in the prosecutors' lists, all else the same questions."""
    every = variants(setting)
    yield from write(every, setting)
    for subject in setting.subjects:
        answers = ask(setting, subject, every, judge=judge_of(setting))
        yield from compare_variants(setting, subject, answers, every)
        yield mean_change(setting, subject, answers, every)
        yield correlations(subject, answers, every)


def mean_change(setting: Setting, subject: Subject, answers: Answers, every: list[Variant]) -> Sheet:
    """What the average other domain changes, with its interval, over all tasks and over swing tasks."""
    others = [variant for variant in every if variant.name != OWN and not variant.name.endswith(RECOMPILED)]
    rows = []
    for way in WAYS:
        made = [arm.arm(setting, subject) for arm in arms(answers, others, way)]
        mean = mean_of("mean of other domains", made)
        base, row = setting.compare(subject, [*arms(answers, every[:1], way), mean], reference=OWN).rows
        ends = (None, None) if row.interval is None else tuple(map(Points, row.interval))
        change = None if row.difference is None else Points(row.difference)
        swing = Points(row.swing_accuracy - base.swing_accuracy)
        rows.append(
            (way, sum(not arm.why for arm in made), change, *ends, None if row.p is None else PValue(row.p), swing)
        )
    return Sheet(
        f"{subject.name}: mean change by the codes of another domain",
        ("how the scores are used", "domains", "change", "from", "to", "p", "on swing tasks"),
        tuple(rows),
        f"accuracy with other codes less that with {OWN}, mean over the domains with a figure; from, to: 95% interval",
    )


EXPERIMENT = Experiment(
    name="wrong_domain",
    question="Does it matter whose failures the judge is told of: this domain's, another's, or a general catalogue's?",
    source="AdaMAST, Table 15; with --with letters=yes and another model, section D.5",
    run=run,
    inputs={"arms": ARMS, "write": WRITE, "letters": "'yes' reads every answer as if it had no log-probabilities"},
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
