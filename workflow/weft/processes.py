"""One campaign at a time in a checkout, and no process of a campaign that was killed left behind.

Every process of a campaign carries the variable MARK, its value the checkout. Who holds the lock file is the
campaign; a marked process of this checkout that it did not start is a left-over, and killed. A guard, forked
from the campaign, does the same the moment the campaign dies, however it dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from weft.errors import BadInput

MARK = "WEFT_CAMPAIGN_IN"
_KILL_TIMEOUT_S = 20.0
_POLL_S = 0.2
_SNAKEMAKE_NOTE = Path(".snakemake/weft.snakemake")
_IN_ORDER = b"."


@contextlib.contextmanager
def exclusive(
    checkout: Path, say: Callable[[str], None], end_jobs: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the checkout's lock: wait for another campaign (telling its pid), then end what a killed one left.

    ``end_jobs`` ends what is left on other machines, now and when this process is killed. Raises TimeoutError
    when a left-over cannot be killed, BadInput when somebody else may be at work here on another machine.
    """
    folder = checkout / ".snakemake"
    folder.mkdir(exist_ok=True)
    with (folder / "weft.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            pid, _, host = lock.read().strip().partition(" ")
            where = f" on {host}" if host not in ("", os.uname().nodename) else ""
            pid = pid or "unknown"
            say(f"Another campaign runs in this checkout (pid {pid}{where}); waiting for it to end …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        lock.truncate()
        lock.write(f"{os.getpid()} {os.uname().nodename}\n")
        lock.flush()
        if kill_marked(checkout):
            say("Ended what a campaign that was killed had left running.")
        _wait_for_snakemake(checkout, say)
        (checkout / _SNAKEMAKE_NOTE).unlink(missing_ok=True)
        if end_jobs:
            end_jobs()
        guard = _guard(checkout, end_jobs)
        yield
        with contextlib.suppress(BrokenPipeError):  # the guard was killed
            os.write(guard, _IN_ORDER)


def environment(checkout: Path) -> dict[str, str]:
    """Return the environment for the processes of a campaign: this one's, and the mark."""
    return {**os.environ, MARK: str(checkout)}


def marked(checkout: Path) -> list[int]:
    """Return the processes that carry the mark of this checkout."""
    entry = f"{MARK}={checkout}".encode()
    return [pid for pid in _processes() if entry in _read(pid, "environ").split(b"\0")]


def kill_marked(checkout: Path) -> bool:
    """Kill every process of a campaign in this checkout, wait for their end; return whether there was any."""
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    found = False
    while pids := marked(checkout):
        found = True
        if time.monotonic() > deadline:
            raise TimeoutError(f"processes {pids} do not end")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return found


def note_snakemake(checkout: Path) -> None:
    """Note on which machine Snakemake was called by hand: its lock does not tell, and others see it too."""
    (checkout / _SNAKEMAKE_NOTE).write_text(f"{os.uname().nodename}\n", encoding="utf-8")


def _wait_for_snakemake(checkout: Path, say: Callable[[str], None]) -> None:
    """Wait for a Snakemake that somebody called by hand here; then remove a lock that nobody holds.

    Raises BadInput when it was called on another machine, where this one cannot see whether it still runs.
    """
    locks = checkout / ".snakemake" / "locks"
    note = checkout / _SNAKEMAKE_NOTE
    told = False
    while locks.exists() and any(locks.iterdir()):
        running = [pid for pid in _processes() if _is_snakemake(pid, checkout)]
        if not running:
            _check_host(note)
            shutil.rmtree(locks)
            return
        if not told:
            say(f"Snakemake runs in this checkout (pid {running[0]}); waiting for it to end …")
            told = True
        time.sleep(_POLL_S)


def _check_host(note: Path) -> None:
    host = note.read_text(encoding="utf-8").strip() if note.exists() else ""
    if host not in ("", os.uname().nodename):
        raise BadInput(
            f"Snakemake was called by hand in this checkout on {host}, and may run there still; if it does"
            " not, remove its lock: .venv/bin/snakemake --unlock."
        )


def _is_snakemake(pid: int, checkout: Path) -> bool:
    """Whether a process is a Snakemake that was called here, and not one that a job of it runs (--mode)."""
    words = _read(pid, "cmdline")
    try:
        return (
            b"snakemake" in words
            and b"--mode" not in words
            and Path(f"/proc/{pid}/cwd").readlink() == checkout
        )
    except OSError:
        return False


def _guard(checkout: Path, end_jobs: Callable[[], None] | None) -> int:
    """Fork a process that outlives this one by a moment: it kills what is left, then frees the lock.

    Return where to write that this process ends in order, and leaves nothing.
    """
    reading, writing = os.pipe()
    if os.fork():
        os.close(reading)  # the writing end closes when this process ends, and the guard wakes up
        return writing
    try:
        os.setsid()
        os.close(writing)
        for standard in (0, 1, 2):  # nobody shall wait for the guard to close its end of a pipe
            os.dup2(reading, standard)
        in_order = os.read(reading, 1) == _IN_ORDER
        kill_marked(checkout)
        if end_jobs and not in_order:
            end_jobs()
    finally:
        os._exit(0)


def _processes() -> list[int]:
    own = os.getpid()
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and int(entry.name) != own
    ]


def _read(pid: int, name: str) -> bytes:
    """What /proc says of a process; nothing when it has ended or is another user's."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
