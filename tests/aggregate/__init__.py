"""The fold, its chain, and who owes what."""
