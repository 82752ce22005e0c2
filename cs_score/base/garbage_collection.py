"""Working without the cyclic garbage collector where millions of rows live at once and none form cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Switch the cyclic collector off for the block; it would walk all living rows again and again.

    What was made in the block counts as old afterwards, so that the collector does not walk it at once. Ctrl-C comes
    after any call, also after those made here, and leaves the collector on all the same.
    """
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        try:
            if not gc.get_freeze_count():  # somebody else's frozen objects stay so
                try:
                    gc.freeze()
                finally:
                    gc.unfreeze()
        finally:
            gc.enable()
