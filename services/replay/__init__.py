"""Replay: a hand told, re-derived and exported from its log."""
