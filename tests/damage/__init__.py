"""Disks that forget: a stopped server's files are altered, and nothing of it may go unseen."""
