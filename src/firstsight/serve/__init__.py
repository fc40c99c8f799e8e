"""The service: a model and a register over HTTP, and pages to look at them."""
