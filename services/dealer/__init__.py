"""The dealer: the only service that knows the cards."""
