"""What people look at: reports, galleries and explanations as pages."""
