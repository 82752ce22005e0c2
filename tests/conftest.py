"""Settings for all tests."""

import os
import signal
import time

from hypothesis import HealthCheck, Phase, settings

# The machines that run the suite are shared: how long one example takes says nothing of the code. `make test` draws few
# examples of each law, the same ones each time, so that a change and not chance makes it fail; `make test-slow` draws
# many new ones. `make mutants` asks only whether a law is broken.
for _profile, _examples in (("quick", 25), ("deep", 200), ("mutants", 25)):
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        derandomize=_profile != "deep",
        phases=(Phase.explicit, Phase.generate) if _profile == "mutants" else tuple(Phase),
        print_blob=True,
        suppress_health_check=[
            HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
        ],
    )  # fmt: skip
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# What people have set on their machines changes what commands print: width and colours of a terminal, language, hour.
# Tests that are about one of these set it themselves.
for _name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PAGER", "LANG", "LANGUAGE", "PYTHONIOENCODING"):
    os.environ.pop(_name, None)
for _name in [name for name in os.environ if name.startswith("LC_")]:
    del os.environ[_name]
os.environ |= {"LC_ALL": "C.UTF-8", "TERM": "dumb", "TZ": "UTC"}
time.tzset()

# Started in the background by a script, the suite ignores signals, and so would the commands that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
