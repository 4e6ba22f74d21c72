"""What people run: the command line ``closed-loop`` (``command_line``, one file per subcommand)."""
