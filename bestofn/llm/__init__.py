"""Asks language models for letters: requests, answers, the client, its cache and budget, batch files and replay.

Start at `request` (what is asked) and `letters` (how an answer becomes a score); `client` does the talking.
"""
