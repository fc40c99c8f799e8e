"""A service over HTTP, with the verbs of `Discoverer` and `Store`. Needs the extra `serve`, and nothing of torch."""
