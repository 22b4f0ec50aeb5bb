"""The cashier: accounts as a log of double entries, and the chips that go between accounts and tables."""
