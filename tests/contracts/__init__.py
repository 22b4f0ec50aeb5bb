"""What crosses the bus stays readable: by this release, by every later one, and by others."""
