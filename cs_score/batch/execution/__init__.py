"""Tasks on this process, a pool of processes or a Dask cluster."""
