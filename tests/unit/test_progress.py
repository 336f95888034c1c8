"""What `weft campaign` says of jobs that fail: the program's sentence, the scheduler's, and nothing twice."""

import logging
from pathlib import Path

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from weft.progress import LogHandler

SENTENCE = "pt2pt: --expect-ranks asks for 4 ranks, but MPI sees 1."
SNAKEMAKES = "WorkflowError:\nAt least one job did not complete successfully.\n"
ENDED = "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'."
NO_DETAIL = " Detailed failure reason unavailable (status command is not 'sacct')."


@pytest.fixture
def failure(tmp_path: Path, capsys):
    """What is said of a failed job whose program and scheduler wrote this, and its executor says that."""

    def say(program: str, job: str | None = None, executor: str | None = None) -> list[str]:
        (tmp_path / "program.log").write_text(program)
        logs = [f"{tmp_path}/program.log (check log file(s) for error details)"]
        if job is not None:
            (tmp_path / "7.log").write_text(job)
            logs.append(f"{tmp_path}/7.log")
        record = logging.makeLogRecord(
            {
                "event": LogEvent.JOB_ERROR, "levelno": logging.ERROR, "rule_name": "pt2pt_latency",
                "output": ["records/a.jsonl"], "log": logs, "rule_msg": executor,
            }
        )  # fmt: skip
        handler = LogHandler.__new__(LogHandler)
        handler.__post_init__()
        handler.emit(record)
        return capsys.readouterr().err.splitlines()

    return say


def test_the_programs_sentence_once_for_all_ranks(failure, tmp_path):
    said = failure(f"{SENTENCE}\n" * 4 + "srun: error: n1: tasks 0-3: Exited with exit code 2\n")
    assert said[0].endswith("Failed: rule pt2pt_latency, for records/a.jsonl")
    assert said[1:] == [
        f"        the last lines of {tmp_path}/program.log:",
        f"        | {SENTENCE}",
        "        | srun: error: n1: tasks 0-3: Exited with exit code 2",
    ]


def test_what_the_scheduler_ended(failure):
    limit = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-21T12:00:00 DUE TO TIME LIMIT ***"
    said = failure("", f"rule pt2pt_latency:\n{limit}\n{SNAKEMAKES}", ENDED + NO_DETAIL)
    assert said[1] == f"        {ENDED}"
    assert f"        | {limit}" in said
    said = failure(f"{SENTENCE}\n", f"rule pt2pt_latency:\n{limit}\n{SNAKEMAKES}", ENDED + NO_DETAIL)
    assert [line for line in said if " | " in line] == [f"        | {SENTENCE}", f"        | {limit}"]


def test_what_sbatch_refuses(failure):
    call = "    sbatch call:\n        sbatch --parsable …\n"
    said = failure("", None, f"SLURM sbatch failed. The error message was 'sbatch: error: no'.\n{call}")
    assert said[1:] == ["        SLURM sbatch failed. The error message was 'sbatch: error: no'."]
