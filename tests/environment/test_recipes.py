"""The recipes of images: each is complete, pins all that it installs, and names no place."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "containers").glob("*.def"))
LISTS = sorted((ROOT / "containers").glob("*.versions"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_recipe_is_complete(recipe: Path) -> None:
    text = recipe.read_text()
    assert "\nBootstrap: debootstrap\nOSVersion: trixie\nMirrorURL: {{ mirror }}\n" in text
    for section in ("arguments", "files", "post", "environment", "test"):
        assert len(re.findall(rf"^%{section}\b", text, re.M)) == 1, section
    for promise in ("weft.commit", "label_versions", "toolchain_is_complete", "two ranks talk", "LC_ALL"):
        assert promise in text, promise
    for copied in re.findall(r"^    (containers/\S+)", text, re.M):
        assert (ROOT / copied).exists()


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_package_is_pinned(path: Path) -> None:
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    packages = [line for line in lines if line]
    assert packages
    for line in packages:
        assert re.fullmatch(r"[a-z0-9][a-z0-9+.-]+=(\d+:)?[\w.+~-]+", line), line


def test_nothing_is_installed_but_by_the_lists() -> None:
    sources = [*RECIPES, *(ROOT / "containers/common").iterdir()]
    text = "\n".join(path.read_text() for path in sources)
    assert re.findall(r"apt-get install.*", text) == ['apt-get install -q -y "${pins[@]}"']
    assert "curl" not in text
    assert "wget" not in text
    for lists in re.findall(r'install_pinned "\{\{ relock \}\}" (.*)', text):
        for name in lists.split():
            assert (ROOT / f"containers/{name}.versions") in LISTS


def test_recipes_name_no_place() -> None:
    for path in [*RECIPES, *LISTS, *(ROOT / "containers/common").iterdir(), ROOT / "envs/image"]:
        assert not re.search(r"https?://[a-z]", path.read_text()), path
