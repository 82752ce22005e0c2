"""Commands about cs-score itself."""
