"""Bots that play random legal poker through the bus: for the demo, the tests of whole processes and the bench."""
