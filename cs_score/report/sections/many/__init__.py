"""The sections of a batch's page, each made of one part of what `batch.json` tells of many runs."""
