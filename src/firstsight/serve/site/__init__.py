"""What people look at: one router per page. Pages change nothing by themselves; they ask the API to."""
