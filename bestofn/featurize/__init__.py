"""Turns a recorded run into numbers. `extract.Extractor` is the way in; banks of patterns lie in `features/`."""
