"""What all tests share: the built programs, an MPI launcher, and the closing lines of `make test`."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.mpi import MPI_ENVIRONMENT

ROOT = Path(__file__).resolve().parent.parent

# A job in the background begins with Ctrl-C ignored, and what it starts inherits that: tests that interrupt a
# campaign need it back.
signal.signal(signal.SIGINT, signal.default_int_handler)

Launch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def build() -> Path:
    """Build folder of the host backend: build/host, or the one that WEFT_BUILD names."""
    return Path(os.environ.get("WEFT_BUILD", ROOT / "build/host")).resolve()


@pytest.fixture(scope="session")
def programs(build: Path) -> Callable[[str], Path]:
    """`programs("p2p")` is the path of a built program."""

    def find(name: str) -> Path:
        path = build / "bin" / name
        assert path.exists(), f"{path} is not built: make build"
        return path

    return find


@pytest.fixture(scope="session")
def run_program(programs: Callable[[str], Path]) -> Launch:
    """`run_program("p2p", "--list")` runs a program by itself and returns what it said; it never raises."""

    def run(program: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        return run_command([programs(program), *arguments], **options)

    return run


@pytest.fixture(scope="session")
def mpirun(programs: Callable[[str], Path]) -> Launch:
    """`mpirun(3, "pt2pt", "--list")` runs a program (or a path) with that many ranks, on any machine."""

    def run(
        ranks: int, program: str | Path, *arguments: object, **options: object
    ) -> subprocess.CompletedProcess[str]:
        path = program if isinstance(program, Path) else programs(program)
        launcher = [ROOT / ".venv/bin/mpirun", "--map-by", ":OVERSUBSCRIBE", "-n", ranks]
        return run_command([*launcher, path, *arguments], **options)

    return run


@pytest.fixture(scope="session")
def launch() -> Launch:
    """`launch([path, "--list"])` runs any command; see `run_command`."""
    return run_command


def run_command(
    command: list[object],
    *,
    timeout_s: float = 120,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command with MPI's variables and `env` set, without standard input; its output is text."""
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        stdin=subprocess.DEVNULL,
        env=os.environ | MPI_ENVIRONMENT | (env or {}),
        cwd=cwd,
        check=False,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--closing", metavar="FILE", type=Path, help="write the skips and the totals to FILE")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Leaves the lines with which `make test` closes: each skip with its reason, then the totals."""
    if file := config.getoption("--closing"):
        stats = terminalreporter.stats
        skips = [f"skipped {name_of(report)}: {reason_of(report)}" for report in stats.get("skipped", [])]
        failed = len(stats.get("failed", [])) + len(stats.get("error", []))
        totals = f"{len(stats.get('passed', []))} passed, {failed} failed, {len(skips)} skipped"
        file.write_text("\n".join([*skips, totals]) + "\n")


def name_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The test's name, or the module's where a whole module was skipped."""
    return report.nodeid


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why it was skipped, in one line."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ").replace("\n", " ")
