"""Three servers as one: logs that must agree with each other, and processes and networks that fail."""
