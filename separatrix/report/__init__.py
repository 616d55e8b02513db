"""The HTML atlas of a store, from records, verdicts and certificates alone."""
