"""What is wrong with a container's image is one sentence before anything is submitted, with stand-ins."""

from pathlib import Path

import pytest

from support.site import FILE, Site
from support.slurm import Slurm
from weft import sources

BUILDS = "which builds the programs; take one of envs/image."
SINGLE = (
    "but config/mpi/openmpi.yaml: launch.srun starts it with --mpi=pmix: worlds of one rank each; change mpi"
    " or the image."
)


class Image:
    """A file that a stand-in for apptainer takes for an image: its commands lie in a folder beside it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.file, self.tools = site.checkout.folder / "site.sif", site.checkout.folder / "site.tools"
        self.tools.mkdir()
        self.file.write_bytes(bytes(32) + b"SIF_MAGIC\0")
        for name in ("c++", "cmake", "ninja", "mpicxx"):
            command(self.tools / name, "exit 0")
        self.loads("libmpi.so.40", "libpmix.so.2")
        self.runtime = site.slurm.folder / "apptainer"
        command(
            self.runtime,
            f'while [ "$1" != {self.file} ]; do shift; done; shift\n'
            f'PATH={self.tools}:/usr/bin:/bin exec "$@"',
        )
        site.set("PATH", f"{site.slurm.folder}:{site.slurm.environment['PATH']}")
        site.edit(FILE, "launcher: srun", f"launcher: srun\ncontainer: {{image: {self.file}}}")

    def loads(self, *libraries: str) -> None:
        """Let the programs of the image's MPI load these libraries."""
        command(self.tools / "ldd", "\n".join(f"echo '{name} => /lib/{name}'" for name in libraries))


def command(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def image(checkout, tmp_path, monkeypatch) -> Image:
    return Image(Site(checkout, Slurm(tmp_path / "slurm"), monkeypatch))


def test_an_image_that_fits(image):
    assert image.site.is_fine()


def test_an_image_without_compilers_where_the_programs_are_built(image):
    (image.tools / "mpicxx").unlink()
    assert "lacks mpicxx, which builds" in image.site.problem()
    for name in ("topology", "p2p", "pt2pt", "collective"):
        binary = image.site.checkout.folder / f"build/site-host/bin/{name}"
        note = image.site.checkout.folder / sources.note("site-host", name)
        for path in (binary, note):
            path.parent.mkdir(parents=True, exist_ok=True)
        binary.touch()
        note.write_text(sources.source_digest(name))
    assert image.site.is_fine()
    image.loads("libmpi.so.12")
    assert SINGLE in image.site.problem()
    note.write_text("of others")
    assert "lacks mpicxx, which builds" in image.site.problem()


def test_mpich_in_image_and_launch_line(image):
    image.loads("libmpi.so.12")
    image.site.edit(FILE, "mpi: openmpi", "mpi: mpich")
    assert image.site.is_fine()


def replace_by_folder(image: Image) -> None:
    image.file.unlink()
    image.file.mkdir()


def move_where_it_is_built(image: Image) -> None:
    built = image.site.checkout.folder / "build/images/openmpi.sif"
    built.parent.mkdir(parents=True)
    image.file.rename(built)
    image.site.edit(FILE, str(image.file), str(built))
    image.file = built


@pytest.mark.parametrize(
    ("spoil", "end"),
    [
        (lambda image: image.file.unlink(), "which does not exist."),
        (
            lambda image: image.file.write_text("#!/bin/sh\n"),
            "which is no image of Apptainer or Singularity.",
        ),
        (replace_by_folder, "which is a folder: name the file of an image."),
        (
            move_where_it_is_built,
            "which is built from its recipe: leave image out to use it, or keep another file elsewhere.",
        ),
        (lambda image: (image.tools / "mpicxx").unlink(), f"which lacks mpicxx, {BUILDS}"),
        (
            lambda image: command(image.tools / "mpicxx", "exit 1"),
            "whose MPI compiles no program: its mpicxx does not work.",
        ),
        (lambda image: image.loads("libmpi.so.40"), f"whose OpenMPI speaks neither PMIx nor PMI, {SINGLE}"),
        (lambda image: image.loads("libmpi.so.12"), f"whose MPICH speaks pmi2, {SINGLE}"),
        (
            lambda image: command(image.runtime, "echo 'FATAL: no user namespaces' >&2; exit 255"),
            "which does not run here (FATAL: no user namespaces).",
        ),
    ],
)
def test_an_image_that_does_not_fit(image, spoil, end):
    spoil(image)
    assert image.site.problem() == f"{FILE}: container.image is '{image.file}', {end}"


def test_no_runtime_of_images(image):
    image.runtime.unlink()
    assert image.site.problem() == (
        f"{FILE}: container.runtime is apptainer, but there is none here: install it or load its module, or"
        " set container to null."
    )


def test_an_image_to_be_built_is_not_looked_into(image):
    image.site.edit(FILE, f"{{image: {image.file}}}", "{}")
    image.file.unlink()
    assert image.site.is_fine()
