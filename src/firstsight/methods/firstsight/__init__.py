"""Our own method: statistics of frozen features, and the rule is a posterior."""
