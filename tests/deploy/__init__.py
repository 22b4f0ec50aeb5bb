"""What is deployed is checked without a cluster: manifests, and the values of the server's chart."""
