"""Accounting: whether ledgers and tables agree, to the chip."""
