"""One subpackage per published or peer search; found by the command line through entry points."""
