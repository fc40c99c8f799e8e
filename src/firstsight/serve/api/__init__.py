"""What programs ask: one router per file, all under /api."""
