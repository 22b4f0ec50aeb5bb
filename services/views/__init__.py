"""The views: what players and spectators may see."""
