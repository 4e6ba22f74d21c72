"""Workshop of this repository: nothing in here is installed. See tools/README.md."""
