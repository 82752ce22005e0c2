"""From a page in memory to one HTML file: template, style and script, which nothing is loaded for."""
