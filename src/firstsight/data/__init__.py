"""Images, or features somebody has already, and where they come from."""
