"""The table service: seats, turns, betting and pots."""
