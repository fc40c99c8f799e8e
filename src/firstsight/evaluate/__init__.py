"""How well it went: accuracy, orders of the stream, and the page that shows both."""
