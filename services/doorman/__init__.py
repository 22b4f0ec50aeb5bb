"""Lets players in: looks at a player's credential, and tells the server what this player may do, and until when."""
