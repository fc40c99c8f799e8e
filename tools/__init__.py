"""What keeps the project in order: no part of the package, run from the repository's root."""
