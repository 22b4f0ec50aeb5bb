"""Services as operating system processes: killed, stopped, started again, and never told."""
