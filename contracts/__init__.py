"""What crosses the bus, as data only: the words that all services share."""
