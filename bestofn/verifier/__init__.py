"""LLM-as-a-Verifier's way of picking one of N runs, over our own judge, cache and states.

The method is that of Kwok, Li, Atreya, Liu, Jiang, Finn, Pavone, Stoica and Mirhoseini, "LLM-as-a-Verifier: A
General-Purpose Verification Framework", arXiv:2607.05391, and of its code (llm-as-a-verifier/llm-as-a-verifier):

- A reading shows two runs and asks for a letter A to T for each. The reward of a run is the mean, over C criteria and
  K repeats, of the expectation over the letters, from 0 to 1. Every second repeat shows them in the other order.
- Round robin, as first released: each pair once; the higher reward wins, equal ones take half a win each; most wins.
- Pivot tournament, as published since: the N neighbours of a random ring, then every run against the k leaders and
  these among themselves; a comparison gives sigmoid(R_a - R_b) to a and the rest to b; the highest mean is picked.

What differs here: a failed reading is missing where the original takes 0.5 for it, equal scores share the pick where
the original takes the first, and the runs reach the model redacted and fenced. `tournament` is the arithmetic,
`method` the asking.
"""
