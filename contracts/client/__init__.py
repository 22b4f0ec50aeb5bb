"""The client of a card room: commands, questions, and tables that are followed without a gap."""
