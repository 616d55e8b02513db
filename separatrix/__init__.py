"""separatrix: which learner learns which task, at what cost, and which theorem says so."""
