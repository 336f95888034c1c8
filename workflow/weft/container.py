"""The container of a system: its image, the words that run a program in it, where programs are built."""

from __future__ import annotations

from pathlib import Path

from weft.config import ResolvedConfig

IMAGES = Path("build/images")


def stem(config: ResolvedConfig) -> str | None:
    """Return the name of the system's image without suffix, None for a system on the bare machine.

    An image built here is called as its recipe, and `-cuda` after it; a given one as its file.
    """
    settings = config.system["container"]
    if settings is None:
        return None
    return Path(settings["image"] or built(config)).stem


def built(config: ResolvedConfig) -> str:
    """Return where the image of the system's MPI lies once it is built, relative to the checkout."""
    return f"{IMAGES}/{config.mpi['recipe']}{'-cuda' if config.backend == 'cuda' else ''}.sif"


def image(config: ResolvedConfig) -> str:
    """Return where the image lies: as given, or relative to the checkout where it is built."""
    return config.system["container"]["image"] or built(config)


def digest_file(config: ResolvedConfig) -> str:
    """Return the file with the image's SHA-256, in hexadecimal digits, relative to the checkout."""
    return f"{IMAGES}/{stem(config)}.sha256"


def identity_file(config: ResolvedConfig) -> str:
    """Return the file that tells whether the image is still the same, relative to the checkout.

    It holds the digest of the recipe, since an image built anew from the same recipe is no reason to measure
    anew; of a given image its own digest.
    """
    return digest_file(config) if config.system["container"]["image"] else f"{IMAGES}/{stem(config)}.recipe"


def tree(config: ResolvedConfig, *, contained: bool) -> str:
    """Return the name of the build tree below `build`: one for each image and backend."""
    name = stem(config) if contained else None
    if name is None:
        return config.backend
    return name if name.endswith(f"-{config.backend}") else f"{name}-{config.backend}"


def environment() -> dict[str, str]:
    """Return the environment variables of every call.

    The processes of a node share one user namespace: else none may read another's memory, and MPI copies
    every message once more than on the bare machine.
    """
    return {"APPTAINER_SHARENS": "1"}


def words(config: ResolvedConfig) -> list[str]:
    """Return the words that run what follows them in the container.

    It sees the checkout, at the same place, and what the system binds. Processes of one node share /dev/shm
    and the host's processes, which MPI's shared memory needs; nothing in it has more rights than the user.
    """
    settings = config.system["container"]
    checkout = str(Path.cwd())
    home = [] if settings["home"] else ["--no-home"]
    gpus = ["--nv"] if config.backend == "cuda" else []
    binds = [word for bind in [checkout, *settings["bind"]] for word in ("--bind", bind)]
    return [settings["runtime"], "--quiet", "exec", *home, *gpus, *binds, "--pwd", checkout, image(config)]


def recipe_files(config: ResolvedConfig) -> list[str]:
    """Return what the image is made from: its recipe and what recipes share, or the given image itself."""
    settings, recipe = config.system["container"], config.mpi["recipe"]
    if settings is None:
        return []
    if settings["image"]:
        return [settings["image"]]
    folder = Path("containers")
    lists = [Path(f"envs/{name}.txt") for name in ("cuda", "cudart", "ucx") if config.backend == "cuda"]
    versions = [*folder.glob(f"{recipe}*.versions"), folder / "toolchain.versions"]
    return sorted(map(str, [folder / f"{recipe}.def", *folder.glob("common/*"), *versions, *lists]))


def build_command(config: ResolvedConfig) -> list[str]:
    """Return the words that build the image of the system's recipe."""
    settings = config.system["container"]
    words = ["envs/image", config.mpi["recipe"]]
    words += ["--cuda"] if config.backend == "cuda" else []
    words += ["--mirror", settings["mirror"]] if settings["mirror"] else []
    if settings["package"]:
        words += ["--file", settings["package"]["file"], "--sha256", settings["package"]["sha256"]]
    return words
