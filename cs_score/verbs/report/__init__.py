"""Reports: HTML pages and charts."""
