"""Logs of every released version, which must fold for ever; `python -m tests.golden` writes those of this release."""
