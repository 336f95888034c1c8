"""Images: recipes pin all they install and name no place; envs/image refuses, rebuilds and explains itself.

A stand-in takes Apptainer's place; tests/cluster builds real images."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "containers").glob("*.def"))
LISTS = sorted((ROOT / "containers").glob("*.versions"))
MIRROR = "http://mirror.example/debian"
PACKAGE = b"not for everyone"
# What the scripts call; nothing else is on PATH, so that a machine's own Apptainer is out of sight.
TOOLS = (
    "awk basename bash cat cp cut date df dirname env flock git grep head id ls mkdir mv nproc printf rm sed "
    "sh sha256sum sort tail tr touch unshare"
)

# Behaves as its file `does` says, and writes down how it was called.
APPTAINER = """#!/bin/bash
if [ "$1" = --version ]; then echo "apptainer version 1.4.5"; exit; fi
if [ "$2" = --help ]; then echo "$(cat {folder}/help)"; exit; fi
printf '%s\\n' "$*" >>{folder}/calls
case "$1 $2" in build*) sif=${{@: -2:1}}; . {folder}/does ;; *) . {folder}/inside ;; esac
"""


class Checkout:
    """A checkout with what images need, and stand-ins for the programs of the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.images = self.folder / "build/images"
        self.bin = folder / "bin"
        self.stand_in = folder / "stand-in"
        for name in ("containers", "envs", "workflow/programs/cmake"):
            shutil.copytree(ROOT / name, self.folder / name)
        self.bin.mkdir()
        self.stand_in.mkdir()
        for tool in TOOLS.split():
            if found := shutil.which(tool):
                (self.bin / tool).symlink_to(found)
        self.program("debootstrap", "#!/bin/sh\n")
        self.program("apptainer", APPTAINER.format(folder=self.stand_in))
        (self.stand_in / "help").write_text("--build-arg strings\n")
        (self.stand_in / "inside").write_text("")
        self.builder_does('echo image >"$sif"')

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def builder_does(self, script: str) -> None:
        (self.stand_in / "does").write_text(script + "\n")

    def command(self, script: str, *arguments: object) -> list[str]:
        return [str(self.folder / "envs" / script), *map(str, arguments)]

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.bin), "HOME": str(self.folder)}

    def call(self, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(script, *arguments),
            env=self.environment,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    def image(self, recipe: str = "openmpi", *options: object) -> subprocess.CompletedProcess[str]:
        return self.call("image", recipe, "--mirror", MIRROR, *options)

    @property
    def calls(self) -> list[str]:
        path = self.stand_in / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    """The call ended with status 2 and one sentence that says so much."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert sentence in done.stderr
    assert done.stderr.startswith("weft: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr


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


def test_image_is_built_once(checkout: Checkout) -> None:
    done = checkout.image()
    assert done.returncode == 0, done.stderr
    image = checkout.images / "openmpi.sif"
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    assert (checkout.images / "openmpi.sha256").read_text() == f"{digest}\n"
    assert f"mirror={MIRROR}" in checkout.calls[0]
    assert not (checkout.images / "openmpi.work").exists()
    assert {path.name for path in checkout.folder.iterdir()} <= {"containers", "envs", "workflow", "build"}

    again = checkout.image()
    assert (again.returncode, again.stdout, len(checkout.calls)) == (0, "", 1)


@pytest.mark.parametrize(
    "change", ["openmpi.def", "openmpi.versions", "toolchain.versions", "image", "digest", "by hand"]
)
def test_image_is_built_anew_after(change: str, checkout: Checkout) -> None:
    checkout.image()
    if "." in change:
        with (checkout.folder / "containers" / change).open("a") as file:
            file.write("# changed\n")
    elif change == "by hand":
        (checkout.images / "openmpi.sif").write_text("another\n")
        touch_image(checkout)
    else:
        (checkout.images / f"openmpi.{'sif' if change == 'image' else 'sha256'}").unlink()
    assert checkout.image().returncode == 0
    assert len(checkout.calls) == 2
    assert (checkout.images / "openmpi.sif").exists()


def touch_image(checkout: Checkout) -> None:
    newer = (checkout.images / "openmpi.sha256").stat().st_mtime + 10
    os.utime(checkout.images / "openmpi.sif", (newer, newer))


def test_copied_image_is_taken(checkout: Checkout) -> None:
    checkout.image()
    touch_image(checkout)
    assert checkout.image().returncode == 0
    assert len(checkout.calls) == 1


def test_change_of_another_recipe_is_none(checkout: Checkout) -> None:
    checkout.image()
    (checkout.folder / "containers/mpich.def").write_text("changed\n")
    checkout.image()
    assert len(checkout.calls) == 1


def test_two_calls_at_once_build_one_image(checkout: Checkout) -> None:
    held = checkout.stand_in / "held"
    os.mkfifo(held)
    checkout.builder_does(f'cat {held} >/dev/null; echo image >"$sif"')
    command = checkout.command("image", "openmpi", "--mirror", MIRROR)
    both = [subprocess.Popen(command, env=checkout.environment) for _ in range(2)]
    held.write_text("go\n")
    assert [one.wait(timeout=60) for one in both] == [0, 0]
    assert len(checkout.calls) == 1


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (
            "tar: write error: No space left on device",
            "the disk became full while build/images/openmpi.sif",
        ),
        (
            "E: Version '4.1-1' for 'cmake' was not found",
            "the mirror has moved on from what containers/",
        ),
        (
            "E: Failed getting release file",
            f"the mirror {MIRROR} could not be reached",
        ),
        ("broken: two ranks talk", "build/images/openmpi.sif would not keep what its recipe promises"),
        ("FATAL: could not use fakeroot: no mapping entry in /etc/subuid", "may not build images here"),
    ],
)
def test_failed_build_is_explained(log: str, sentence: str, checkout: Checkout) -> None:
    checkout.image()
    (checkout.images / "openmpi.recipe").unlink()
    checkout.builder_does(f'echo part >"$sif"; echo "{log}" >&2; exit 255')
    done = checkout.image()
    refused(done, sentence)
    assert "build/images/openmpi.log" in done.stderr
    left = {path.suffix for path in checkout.images.iterdir()}
    assert left == {".lock", ".log"}, "neither a part of an image nor an outdated one may look like the image"


def test_other_failure_shows_the_end_of_the_log(checkout: Checkout) -> None:
    checkout.builder_does("echo the moon is full >&2; exit 255")
    done = checkout.image()
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines == [
        "the moon is full",
        "weft: build/images/openmpi.sif could not be built, for the reason above.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "envs/image takes a recipe (mpich, mvapich2-gdr, openmpi)"),
        (["intel"], "there is no recipe intel; envs/image takes"),
        (["../openmpi"], "there is no recipe ../openmpi; envs/image takes"),
        (["openmpi", "--fast"], "--fast is not understood"),
        (["openmpi", "--mirror"], "--mirror stands without its value"),
        (
            ["openmpi", "--mirror", "file:/debian"],
            "--mirror is file:/debian, but must be the http",
        ),
        (["openmpi", "--mirror", "http://a/ b"], "--mirror is http://a/ b, but must be"),
        (["mpich", "--cuda"], "the recipe mpich has no CUDA variant"),
        (["openmpi", "--file", "a.rpm"], "the recipe openmpi takes no package"),
        (["mvapich2-gdr"], "mvapich2-gdr may not be handed on, so name the package that you have"),
        (["mvapich2-gdr", "--file", "a.rpm"], "and its SHA-256, with --file and --sha256"),
        (
            ["mvapich2-gdr", "--file", "a.rpm", "--sha256", "0"],
            "--file is a.rpm, but must be an .rpm",
        ),
    ],
)
def test_bad_choice_is_refused(arguments: list[str], sentence: str, checkout: Checkout) -> None:
    refused(checkout.call("image", *arguments), sentence)
    assert checkout.calls == []


@pytest.mark.parametrize("suffix", ["rpm", "deb"])
def test_package_must_be_what_its_user_says(suffix: str, checkout: Checkout) -> None:
    package = checkout.folder / f"mvapich2-gdr.{suffix}"
    package.write_bytes(PACKAGE)
    digest = hashlib.sha256(PACKAGE).hexdigest()
    wrong = checkout.image("mvapich2-gdr", "--file", package, "--sha256", "0" * 64)
    refused(wrong, f"{package} has the SHA-256 {digest}, but --sha256 says {'0' * 64}")

    checkout.program("python", "#!/bin/sh\n")  # downloads nothing
    (checkout.folder / ".venv/bin").mkdir(parents=True)
    shutil.copy(checkout.bin / "python", checkout.folder / ".venv/bin/python")
    (checkout.folder / "envs/setup").write_text("#!/bin/sh\n")
    done = checkout.image("mvapich2-gdr", "--file", package, "--sha256", digest.upper())
    assert done.returncode == 0, done.stderr
    assert "package=build/images/mvapich2-gdr.work/package" in checkout.calls[0]


def test_machine_that_cannot_build_is_told_what_it_lacks(checkout: Checkout) -> None:
    (checkout.stand_in / "help").write_text("apptainer build, of old\n")
    refused(checkout.image(), "is too old to build the recipes; install Apptainer 1.2 or newer")
    (checkout.stand_in / "help").write_text("--build-arg strings\n")
    (checkout.bin / "debootstrap").unlink()
    refused(
        checkout.image(),
        "debootstrap is not on PATH; install it, or build the image on a machine",
    )
    checkout.program("debootstrap", "#!/bin/sh\n")
    (checkout.bin / "apptainer").rename(checkout.bin / "singularity")
    (checkout.stand_in / "help").write_text("--build-arg strings\n")
    assert checkout.image().returncode == 0, "Apptainer under its older name"
    checkout.program("singularity", "#!/bin/sh\necho singularity-ce version 4.1.0\n")
    refused(checkout.image("mpich"), "Apptainer is not on PATH; load its module")
    (checkout.bin / "singularity").unlink()
    refused(checkout.image("mpich"), "Apptainer is not on PATH; load its module")
    refused(checkout.call("build", "host", "--image", "build/images/openmpi.sif"), "neither apptainer nor")


def test_full_disk_is_seen_before(checkout: Checkout) -> None:
    (checkout.bin / "df").unlink()
    checkout.program("df", "#!/bin/sh\necho header\necho x 9000 8000 700 92% /\n")
    refused(checkout.image(), "has 700 MB free, but build/images/openmpi.sif takes 1500 MB to build")
    assert checkout.calls == []


@pytest.mark.skipif(
    "ID=debian" not in Path("/etc/os-release").read_text().split(),
    reason="only a Debian knows a mirror",
)
def test_mirror_is_that_of_the_machine(checkout: Checkout) -> None:
    lines = [
        "x-security main http://security.example/",
        "x main cdrom:/x",
        f"x main {MIRROR}/",
        "x main http://b/",
    ]
    checkout.program("apt-get", "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    assert checkout.call("image", "openmpi").returncode == 0
    assert f"mirror={MIRROR}/" in checkout.calls[0]

    checkout.program("apt-get", "#!/bin/sh\n")
    refused(checkout.call("image", "mpich"), "no Debian mirror is known here; name one with --mirror URL")


def test_relock_writes_what_the_image_has(checkout: Checkout) -> None:
    (checkout.stand_in / "inside").write_text('echo "9:${@: -1}"\n')
    assert checkout.image("openmpi", "--relock").returncode == 0
    assert "relock=yes" in checkout.calls[0]
    assert "g++=9:g++\n" in (checkout.folder / "containers/toolchain.versions").read_text()
    assert "libucx0=9:libucx0\n" in (checkout.folder / "containers/openmpi.versions").read_text()
    assert "libmpich12=9:" not in (checkout.folder / "containers/mpich.versions").read_text()
    checkout.image()
    assert len([call for call in checkout.calls if call.startswith("build")]) == 1, (
        "the lists are now as the image"
    )


def test_programs_are_built_in_the_image(checkout: Checkout) -> None:
    checkout.image()
    done = checkout.call("build", "host", "p2p", "--image", "build/images/openmpi.sif")
    assert done.returncode == 0, done.stdout + done.stderr
    place = f"--no-home --bind {checkout.folder} --pwd {checkout.folder} --env WEFT_COMMIT=- -1"
    looked, configured, built = checkout.calls[1:]
    for call in (looked, configured, built):
        assert call.startswith(f"--quiet exec {place} build/images/openmpi.sif ")
    assert "-B build/openmpi-host -G Ninja" in configured
    assert "-DWEFT_TOOLCHAIN=system" in configured
    assert built.endswith("ninja -C build/openmpi-host --quiet p2p")

    checkout.call("build", "host", "p2p", "--image", "build/images/openmpi.sif")
    assert len(checkout.calls) == 6, "configured once"
    (checkout.images / "openmpi.sif").write_text("another image\n")
    (checkout.images / "openmpi.recipe").unlink()
    checkout.builder_does('echo another >"$sif"')
    checkout.image()
    checkout.call("build", "host", "p2p", "--image", "build/images/openmpi.sif")
    assert len([call for call in checkout.calls if "--fresh" in call]) == 2, (
        "another image is configured anew"
    )


@pytest.mark.parametrize(
    ("backend", "image", "tree"),
    [
        ("cuda", "build/images/openmpi-cuda.sif", "build/openmpi-cuda"),
        ("host", "build/images/openmpi-cuda.sif", "build/openmpi-cuda-host"),
        ("cuda", "my images/site.sif", "build/site-cuda"),
    ],
)
def test_tree_is_named_for_image_and_backend(backend: str, image: str, tree: str, checkout: Checkout) -> None:
    (checkout.folder / image).parent.mkdir(parents=True)
    (checkout.folder / image).write_text("image\n")
    done = checkout.call("build", backend, "--image", image)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"-B {tree} " in checkout.calls[1]
    assert ("--nv" in checkout.calls[1]) == (backend == "cuda")


def test_image_without_toolchain_is_refused(checkout: Checkout) -> None:
    refused(checkout.call("build", "host", "--image", "none.sif"), "there is no image none.sif")
    checkout.image()
    (checkout.stand_in / "inside").write_text("echo ninja; echo mpicxx\n")
    done = checkout.call("build", "host", "--image", "build/images/openmpi.sif")
    refused(done, "the image build/images/openmpi.sif lacks ninja, mpicxx, which builds the programs")


@pytest.mark.parametrize(
    ("told", "commit", "dirty"),
    [("0123abcd 1", "0123abcd", "1"), ("4567 0", "4567", "0"), ("- -1", "", "-1")],
)
def test_commit_is_told_to_an_image_without_git(told: str, commit: str, dirty: str, tmp_path: Path) -> None:
    header = tmp_path / "weft_build.hpp"
    definitions = {"header": header, "version": "1", "compiler": "GNU", "build_type": "Release"}
    script = ROOT / "workflow/programs/cmake/build_identity.cmake"
    subprocess.run(
        [ROOT / ".venv/bin/cmake", *[f"-D{key}={value}" for key, value in definitions.items()], "-P", script],
        env=os.environ | {"WEFT_COMMIT": told},
        check=True,
    )
    assert f'#define WEFT_GIT_COMMIT "{commit}"\n#define WEFT_GIT_DIRTY {dirty}\n' in header.read_text()
