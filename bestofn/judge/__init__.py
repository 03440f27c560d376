"""Asks a model about a pool's runs and turns its letters into columns of the feature table, each score with its state.

Start at `judging` (a run from pool to columns) and `plan` (what a criteria set asks); `showing` puts runs into prompts.
"""
