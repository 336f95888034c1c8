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
    if settings["image"]:
        return Path(settings["image"]).stem
    return config.mpi["recipe"] + ("-cuda" if config.backend == "cuda" else "")


def image(config: ResolvedConfig) -> str:
    """Return where the image lies: as given, or relative to the checkout where it is built."""
    return config.system["container"]["image"] or f"{IMAGES}/{stem(config)}.sif"


def digest_file(config: ResolvedConfig) -> str:
    """Return the file with the image's SHA-256, in hexadecimal digits, relative to the checkout."""
    return f"{IMAGES}/{stem(config)}.sha256"


def identity_file(config: ResolvedConfig) -> str:
    """Return the file that tells whether the image is still the same, relative to the checkout.

    It holds the digest of the recipe, or of a given image: an image built anew from the same recipe is no
    reason to measure anew.
    """
    return f"{IMAGES}/{stem(config)}.identity"


def tree(config: ResolvedConfig, *, contained: bool) -> str:
    """Return the name of the build tree below `build`: one for each image and backend."""
    return f"{stem(config)}-{config.backend}" if contained else config.backend


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
    settings = config.system["container"]
    if settings is None:
        return []
    if settings["image"]:
        return [settings["image"]]
    shared = [path for path in Path("containers").rglob("*") if path.is_file() and path.suffix != ".def"]
    return sorted(map(str, [*shared, Path(f"containers/{config.mpi['recipe']}.def")]))


def build_command(config: ResolvedConfig) -> list[str]:
    """Return the words that build the image, or look at a given one: `envs/image` says what it leaves."""
    settings = config.system["container"]
    if settings is None:
        return []
    if settings["image"]:
        return ["envs/image", "--given", settings["image"]]
    words = ["envs/image", config.mpi["recipe"]]
    words += ["--cuda"] if config.backend == "cuda" else []
    words += ["--mirror", settings["mirror"]] if settings["mirror"] else []
    if settings["package"]:
        words += ["--file", settings["package"]["file"], "--sha256", settings["package"]["sha256"]]
    return words
