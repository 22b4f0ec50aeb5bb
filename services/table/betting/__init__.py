"""How much a player may bet, by betting structure."""
