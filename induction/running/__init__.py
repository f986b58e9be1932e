"""Long work: rows that survive an interruption, and tasks in processes under limits."""
