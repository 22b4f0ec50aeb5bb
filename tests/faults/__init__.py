"""What goes wrong around the services: each fault is said, shown to probes, and loses nothing."""
