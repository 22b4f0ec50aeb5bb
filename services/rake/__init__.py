"""The rake: what the house takes from each pot."""
