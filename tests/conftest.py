"""Settings for all tests."""

import signal

from hypothesis import settings

# The machines that run the suite are shared: how long one example takes says nothing of the code.
settings.register_profile("shared machine", deadline=None, print_blob=True)
settings.load_profile("shared machine")

# Started in the background by a script, the suite ignores Ctrl-C, and so would the commands that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
