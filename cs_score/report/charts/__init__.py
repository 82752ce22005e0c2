"""Charts as SVG. A chart takes numbers and untrusted texts, and gives a drawing; colours come from `chart.css`."""
