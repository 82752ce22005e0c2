"""Settings for all tests."""

from hypothesis import settings

# The machines that run the suite are shared: how long one example takes says nothing of the code.
settings.register_profile("shared machine", deadline=None, print_blob=True)
settings.load_profile("shared machine")
