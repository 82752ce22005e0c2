"""Bootstrap resamples: sample files, resampled tables, intervals."""
