"""Studies: plan, run, store, resume, and say what came out."""
