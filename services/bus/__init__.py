"""What carries the product: the log, the streams behind it, the connection to them and the server for one machine."""
