"""What the public may see of a table."""
