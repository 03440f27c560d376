"""Best of N with every kind of selector, honest figures beside the published protocol.

python experiments/headline.py --pool demo
"""

from bestofn.ablation import Experiment
from bestofn.ablation.recipe import bank, both, forward, heuristics, llm, mean_rank, oracle, reweight, rule
from bestofn.ablation.tournament import another_taxonomy, min_codes, verifier
from bestofn.judge.comparing import ROUND_ROBIN

ARMS = (
    rule("random", "Pass@1, no selection"),
    rule("shortest"),
    rule("majority"),
    rule("gate"),
    rule("gate-shortest"),
    reweight("heuristics, reweight", heuristics),
    forward("heuristics, forward", heuristics),
    forward("20 regex features, forward", bank("default")),
    forward("20 regex features, as published", bank("default"), optimistic=True),
    verifier("LLM-as-a-Verifier"),
    verifier("LLM-as-a-Verifier, every pair", ROUND_ROBIN),
    min_codes("fewest codes"),
    another_taxonomy("MAST-14, nested", "mast-14"),
    another_taxonomy("MAST-14, as published", "mast-14", optimistic=True),
    mean_rank("AdaMAST-Judge, no labels", llm, what="mean rank over the judge's columns"),
    reweight("AdaMAST-Judge, reweight", both, asks=True),
    forward("AdaMAST-Judge, nested", both, asks=True),
    forward("AdaMAST-Judge, as published", both, optimistic=True, asks=True),
    oracle(),
)

EXPERIMENT = Experiment(
    name="headline",
    question="How much of the way from a random pick to the best attempt does each kind of selector go?",
    source="AdaMAST, Table 4",
    arms=ARMS,
    reference="random",
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
