"""A folder for each task: its measures and how a run is scored, how units are judged, and how that is explained."""
