"""Waiting for what others bring about."""

import time


def wait_for(condition, what: str, timeout_s: float = 60):
    """Return the first true value of ``condition()``."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")
