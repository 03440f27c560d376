"""Does selection need the strong judge: a cheaper one, letters instead of log-probabilities, less of each run?

python experiments/cheaper_verifier.py --pool demo --with tokens=600
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Setting
from bestofn.ablation.answers import compare_variants
from bestofn.ablation.second import INPUTS, bench, outcomes


def run(setting: Setting) -> Iterator[Piece]:
    """The same questions to each judge, and each judge's scores in the same selectors."""
    for subject in setting.subjects:
        found = bench(setting, subject)
        yield from compare_variants(setting, subject, found.answers, found.seats)
        yield outcomes(subject, found.seats, found.answers)


EXPERIMENT = Experiment(
    name="cheaper_verifier",
    question="Does selection need the strong judge, or do a cheaper one, bare letters or less of each run do?",
    source="AdaMAST, Table 16",
    run=run,
    inputs=INPUTS,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
