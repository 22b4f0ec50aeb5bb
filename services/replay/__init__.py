"""Replay: reads logs back, live or exported; folds, narrates, derives again and exports what they say."""
