"""What `deploy/` ships."""
