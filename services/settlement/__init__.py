"""Settlement: who shows, who wins and how each pot is divided."""
