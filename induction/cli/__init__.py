"""The command line: `main.py` and one file per command. Only this package prints or exits."""
