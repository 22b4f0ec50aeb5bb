"""Recorded hands, known faults of other engines and rule vectors, played again by Croupier's own services."""
