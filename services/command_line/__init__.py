"""The commands of `croupier`, one module for each group."""
