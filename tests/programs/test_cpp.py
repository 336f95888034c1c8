"""Each TEST of the C++ files beside this one is an item, under mpirun where its file asks for ranks."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def declared_tests() -> list[object]:
    """(file's stem, test's name, ranks or None) of every TEST in every C++ file."""
    found = []
    for source in sorted(HERE.glob("*.cpp")):
        text = source.read_text()
        ranks = re.search(r"^// ranks: ([\d ]+)$", text, re.MULTILINE)
        for name in re.findall(r"^TEST\((\w+)\)", text, re.MULTILINE):
            for count in map(int, ranks[1].split()) if ranks else [None]:
                suffix = f"-{count}_ranks" if count else ""
                found.append(pytest.param(source.stem, name, count, id=f"{source.stem}-{name}{suffix}"))
    return found


@pytest.mark.parametrize(("file", "name", "ranks"), declared_tests())
def test_cpp(file: str, name: str, ranks: int | None, build: Path, launch, mpirun) -> None:
    program = build / "tests" / file
    assert program.exists(), f"{program} is not built: envs/build host weft_tests"
    done = mpirun(ranks, program, name) if ranks else launch([program, name])
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(rf"^ok {name}$", done.stdout, re.MULTILINE)) == (ranks or 1), done.stdout


@pytest.mark.parametrize("file", sorted(source.stem for source in HERE.glob("*.cpp")))
def test_every_registered_test_is_an_item(file: str, build: Path, launch) -> None:
    listed = launch([build / "tests" / file, "--list"]).stdout.split()
    declared = {parameters.values[1] for parameters in declared_tests() if parameters.values[0] == file}
    assert set(listed) == declared and listed
