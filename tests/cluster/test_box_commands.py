"""What the box's commands do with words, folders, checkouts and mistakes."""

import re
import stat
import subprocess
from pathlib import Path

import pytest

from support.box import COMMAND, Box


def test_run_passes_words_folder_and_status_on(box: Box) -> None:
    box.run("mkdir", "-p", "a folder")
    said = box.run(
        "sh",
        "-c",
        'pwd; printf "[%s]" "$@"; exit 7',
        "sh",
        "two words",
        "$HOME;",
        "",
        folder="a folder",
        check=False,
    )
    assert (said.returncode, said.stdout) == (7, "/home/hpc/a folder\n[two words][$HOME;][]")
    assert box.run("id", "-un", root=True).stdout == "root\n"
    assert box.run("true", folder="/nowhere", check=False).returncode == 2


def test_what_is_killed_with_run_is_the_command_too(box: Box) -> None:
    command = [str(COMMAND), "run", "--", "sh", "-c", "echo begun; exec sleep 86399"]
    with subprocess.Popen(command, env=box.environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "begun\n"
        assert box.run("pgrep", "-f", "^sleep 86399").stdout
        running.kill()
    while box.run("pgrep", "-f", "^sleep 86399", check=False).stdout:
        pass


def test_put_brings_what_git_lists_and_keeps_what_was_built(box: Box, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run([*git, "init", "-q"], check=True)
    for name, text in {".gitignore": "built\n", "kept": "1", "removed": "1", "built": "here"}.items():
        (tmp_path / name).write_text(text)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    box.run("rm", "-rf", "put test")
    box("put", tmp_path, "put test")
    box.run("sh", "-c", "echo there >built", folder="put test")
    (tmp_path / "kept").write_text("2")
    (tmp_path / "removed").unlink()
    (tmp_path / "a new one").write_text("1")
    box("put", tmp_path, "/home/hpc/put test")
    said = box.run(
        "sh", "-c", "ls -A; cat kept built; git status --short; git rev-list --count HEAD", folder="put test"
    )
    assert said.stdout.split("\n") == [".git", ".gitignore", "a new one", "built", "kept", "2there", "1", ""]
    assert box.run("find", "put test", "!", "-user", "hpc").stdout == ""


def test_commands_of_build_reach_no_cluster_and_leave_nothing_outside_home(box: Box) -> None:
    said = box(
        "build", "--", "sh", "-c", "id -un; hostname; touch /tmp/mine /home/hpc/ours; ! srun -A proj true"
    )
    assert said.stdout == "hpc\nbuild\n"
    assert box.run("ls", "ours").stdout == "ours\n"
    assert box.run("ls", "/tmp/mine", check=False).returncode != 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fly"], "no command is called fly"),
        (["up", "--nodes", "0"], "--nodes is 0, but must be between 1 and 64"),
        (["up", "--nodes", "3"], "the box is up with 4 nodes; take it down first"),
        (["up", "--rate", "fast"], "fast is not"),
        (["rate", "n9", "1gbit"], "there is no node n9; the box has n1 n2 n3 n4"),
        (["rate", "n1", "1"], "a rate is a whole number with its unit"),
        (["power", "ctl", "off"], "there is no node ctl"),
        (["power", "n1", "maybe"], "power takes off or on; maybe is neither"),
        (["run", "--node", "n9", "--", "true"], "there is no node n9"),
        (["run", "true"], "run takes --node NODE"),
        (["run", "--node"], "--node stands without its value"),
        (["run", "--"], "run needs a command"),
        (["build", "true"], "build takes --dir DIR and then -- COMMAND"),
        (["put", "/", "checkout"], "/ is no git checkout"),
        (["put", COMMAND.parent, "/etc"], "put copies to a folder below /home/hpc; /etc is not"),
        (["put", COMMAND.parent, "../other"], "put copies to a folder below /home/hpc; ../other is not"),
        (["controller", "pause"], "controller takes stop or start"),
        (["status", "now"], "status takes --versions or nothing"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_told_in_one_sentence(box: Box, words: list[str], sentence: str) -> None:
    said = box(*words, check=False)
    assert said.returncode == 2
    assert said.stderr.startswith("weft: ")
    assert sentence in said.stderr
    assert said.stderr.count("\n") == 1


def test_a_folder_of_other_things_is_not_taken(box_state: Path, tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("mine")
    said = Box(tmp_path)("clean", check=False)
    assert said.returncode == 2
    assert "holds other things" in said.stderr
    assert (tmp_path / "diary").exists()


def test_no_other_user_reaches_its_files(box: Box) -> None:
    assert stat.S_IMODE(box.state.stat().st_mode) == 0o700


def test_versions_are_recorded(box: Box) -> None:
    versions = dict(line.split() for line in box("status", "--versions").stdout.splitlines())
    assert {"slurmctld", "apptainer", "libopenmpi-dev", "libmpich-dev"} <= set(versions)
    assert re.fullmatch(r"\d[\w.+~:-]*", versions["slurmctld"])
