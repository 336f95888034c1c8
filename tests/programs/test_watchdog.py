"""A run in which nothing goes on any more ends by itself, and says in one sentence where and due to whom."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from programs.records import binaries, command
from support.mpi import MPI_ENVIRONMENT

HUNG = 3
LIMIT = ("--watchdog-s", 2)
ENDLESS = ("--budget-s", 1000, "--precision", "1e-9", "--max-samples", 10_000_000)
PATIENCE_S = 120  # of these tests: without a watchdog they would take all of it, and fail


class Ranks:
    """A multi-rank program in a folder: its launcher and the process of each rank."""

    def __init__(self, folder: Path, program: str, ranks: int, *options: object) -> None:
        self.folder, self.output = folder, folder / "records.jsonl"
        self.partial = folder / "records.jsonl.partial"
        script = folder / "rank"
        script.write_text(
            f"#!/bin/bash\necho $$ > {folder}/$OMPI_COMM_WORLD_RANK.new\n"
            f"mv {folder}/$OMPI_COMM_WORLD_RANK.new {folder}/$OMPI_COMM_WORLD_RANK.pid\n"
            f"[ ! -e {folder}/$OMPI_COMM_WORLD_RANK.absent ] || exec sleep {2 * PATIENCE_S}\n"
            f'exec {binaries() / program} "$@"\n'
        )
        script.chmod(0o755)
        launcher = command("", ranks=ranks)[:-1]
        words = [*launcher, script, "--output", self.output, "--quiet", *LIMIT, *options]
        self.launcher = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | MPI_ENVIRONMENT | {"OMPI_MCA_mpi_yield_when_idle": "1"},
        )

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert self.launcher.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)

    def wait_until_gone(self, rank: int) -> None:
        """The launcher ends a process that is stopped, too."""
        process, deadline = Path(f"/proc/{self.pid(rank)}"), time.monotonic() + PATIENCE_S
        while process.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def pid(self, rank: int) -> int:
        self.wait_until((self.folder / f"{rank}.pid").exists)
        return int((self.folder / f"{rank}.pid").read_text())

    def lines(self) -> int:
        return self.partial.read_text().count("\n") if self.partial.exists() else 0

    def busy_s(self, rank: int) -> float:
        """The processor time that a rank has used."""
        user, system = Path(f"/proc/{self.pid(rank)}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop_while_measuring(self, rank: int) -> None:
        """Stop a rank that has begun to measure and has been busy with it for a while."""
        self.wait_until(lambda: self.lines() >= 1)
        before = self.busy_s(rank)
        self.wait_until(lambda: self.busy_s(rank) > before + 1)
        os.kill(self.pid(rank), signal.SIGSTOP)

    def end(self) -> tuple[int, list[str]]:
        """The status, and the sentences of the program."""
        _, said = self.launcher.communicate(timeout=PATIENCE_S)
        return self.launcher.returncode, [line for line in said.splitlines() if ": no progress" in line]


@contextmanager
def running(folder: Path, program: str, ranks: int, *options: object) -> Iterator[Ranks]:
    world = Ranks(folder, program, ranks, *options)
    try:
        yield world
    finally:
        world.launcher.kill()
        world.launcher.wait()
        for file in folder.glob("*.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGKILL)


def host() -> str:
    return re.escape(os.uname().nodename)


@pytest.mark.parametrize(("stopped", "waits"), [(1, 0), (0, 1)])
def test_rank_that_stops_while_sampling_is_named_by_its_partner(
    tmp_path: Path, stopped: int, waits: int
) -> None:
    options = ("--benchmarks", "latency", "--placements", "device", "--pairs", "0:1")
    with running(tmp_path, "pt2pt", 3, *ENDLESS, "--sizes", 8, *options) as world:
        world.stop_while_measuring(stopped)
        status, sentences = world.end()
        world.wait_until_gone(stopped)
    assert status == HUNG
    (sentence,) = sentences
    assert re.fullmatch(
        r"pt2pt: no progress for 2 s in pt2pt\.latency 0->1 8 device, (calibration|warm-up|sampling): "
        rf"rank {stopped} on {host()} does not answer, rank {waits} on {host()} waits; "
        r"the run is ended \(--watchdog-s\)\.",
        sentence,
    ), sentence
    assert not world.output.exists()
    assert not (tmp_path / "records.jsonl.hung").exists()
    assert world.lines() >= 1


def test_all_that_wait_in_a_collective_and_the_one_that_does_not_answer_are_named(tmp_path: Path) -> None:
    with running(
        tmp_path, "collective", 4, *ENDLESS, "--sizes", "1KiB", "--benchmarks", "all_gather"
    ) as world:
        world.stop_while_measuring(2)
        status, sentences = world.end()
    assert status == HUNG
    (sentence,) = sentences
    assert "in collective.all_gather mpi 4 ranks" in sentence
    assert f"rank 2 on {os.uname().nodename} does not answer, rank 0 on" in sentence
    assert sentence.count("rank 2") == 1 and sentence.endswith("wait; the run is ended (--watchdog-s).")


def test_rank_that_is_idle_while_others_measure_is_missed_when_they_are_done(tmp_path: Path) -> None:
    options = ("--budget-s", 0.5, "--benchmarks", "latency", "--placements", "device", "--pairs", "0:1")
    with running(tmp_path, "pt2pt", 3, *options, "--sizes", "4:4KiB:x2") as world:
        world.wait_until(lambda: world.lines() >= 2)
        os.kill(world.pid(2), signal.SIGSTOP)
        status, sentences = world.end()
    assert status == HUNG
    (sentence,) = sentences
    assert re.search(
        rf"rank 2 on {host()} does not answer, rank 0 on {host()} and rank 1 on {host()} wait;", sentence
    ), sentence


def test_rank_that_never_starts_ends_those_that_join(tmp_path: Path) -> None:
    (tmp_path / "1.absent").touch()
    with running(tmp_path, "pt2pt", 2, *ENDLESS) as world:
        status, sentences = world.end()
    assert status == HUNG
    assert sentences == [
        f"pt2pt: no progress for 2 s in MPI_Init: rank 0 of 2 on {os.uname().nodename} waits for other "
        "ranks, and which of them answer is not known; the run is ended (--watchdog-s)."
    ]
    assert not world.partial.exists()


@pytest.mark.parametrize(("program", "pipe", "where"), [
    ("p2p", "records.jsonl.partial", "setting up"),
    ("topology", "class/infiniband/mlx5_0/ports/1/link_layer", "facts"),
])  # fmt: skip
def test_single_process_that_waits_for_ever_is_ended(
    tmp_path: Path, program: str, pipe: str, where: str
) -> None:
    """A pipe that nobody writes to or reads from stands for a device that does not answer."""
    (tmp_path / pipe).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / pipe)
    options = ("--sysfs", tmp_path) if program == "topology" else ()
    words = command(program, "--output", tmp_path / "records.jsonl", *LIMIT, *options)
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == HUNG
    assert done.stderr == (
        f"{program}: no progress for 2 s in {where}: a device, its driver or a file system does not answer "
        f"on {os.uname().nodename}; the run is ended (--watchdog-s).\n"
    )
    assert not (tmp_path / "records.jsonl").exists()
