"""HTTP in front of the graph: routes, streaming, credentials, and the commands that serve."""
