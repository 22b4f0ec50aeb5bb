"""Input fuzzing: whatever bytes arrive, nothing breaks down, nothing hangs, and nothing changes that should not.

`python -m tests.fuzz TARGET` runs one target for long, guided by coverage; the ordinary suite runs each for a moment.
"""
