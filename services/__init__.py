"""The services that keep the tables, each of which answers one kind of debt."""
