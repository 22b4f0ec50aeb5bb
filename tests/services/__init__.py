"""All services over a real server, and everybody who talks to them: honest, mistaken or hostile."""
