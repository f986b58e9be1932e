"""Pictures. Plotting libraries are imported when something is drawn, not before."""
