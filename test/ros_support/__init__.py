"""Start the nodes as processes and talk to them over DDS."""
