"""Do two judges agree on the same questions, and what do log-probabilities add to the letter?

python experiments/cross_verifier.py --pool demo
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Setting
from bestofn.ablation.answers import WAYS, arms
from bestofn.ablation.second import INPUTS, agreements, bench, biases, outcomes
from bestofn.ablation.variant import OWN


def run(setting: Setting) -> Iterator[Piece]:
    """How far each judge agrees with the first, what each one's order of showing does, and what each is worth."""
    for subject in setting.subjects:
        found = bench(setting, subject)
        alone = arms(found.answers, found.seats, WAYS[0])
        yield setting.compare(subject, alone, reference=OWN, title=WAYS[0])
        yield from agreements(subject, found)
        yield biases(subject, found)
        yield outcomes(subject, found.seats, found.answers)


EXPERIMENT = Experiment(
    name="cross_verifier",
    question="Do two judges agree on the same questions, and what do log-probabilities add to the letter?",
    source="AdaMAST, section D.5",
    run=run,
    inputs=INPUTS,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
