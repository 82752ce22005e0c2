"""Settings for all tests."""

import os
import signal

from hypothesis import HealthCheck, settings

# The machines that run the suite are shared: how long one example takes says nothing of the code. `make test` draws few
# examples of each law, `make test-slow` many, so that no test says a number of its own.
for _profile, _examples in (("quick", 25), ("deep", 200)):
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        print_blob=True,
        suppress_health_check=[
            HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
        ],
    )  # fmt: skip
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# Started in the background by a script, the suite ignores signals, and so would the commands that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
