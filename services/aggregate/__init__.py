"""The table's state and its fold: shared by all services, deciding nothing."""
