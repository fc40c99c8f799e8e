"""Results as tables: averaged over seeds (lines), laid out (sheet), one module for each kind of table."""
