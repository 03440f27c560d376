"""Turns a recorded run into the text a judge reads: secrets taken out, hostile text fenced, cut to a token budget.

Start at `transcript` (one run) and `attempts` (several side by side); `redact` and `fence` keep the judge safe.
"""
