# The measured programs, for the backend of the system, and the image they are built and run in where it has one.
# A program whose sources are as before is no news to what it measured, however often it was built; nor is an image
# whose recipe is. Both are built where Snakemake runs: compute nodes often have no network.


localrules:
    programs,
    program,


IMAGE = container.stem(CONFIG)
GIVEN = IMAGE and CONFIG.system["container"]["image"]
if problem := preflight.image.file_problem(CONFIG):
    raise WorkflowError(problem)


def identity():
    """The identity of the image. Ancient where it is that of the recipe: an image that was deleted is built again
    as it was, which is no news to what was built and measured in it."""
    path = Path(container.identity_file(CONFIG))
    recipe = [Path(file) for file in container.recipe_files(CONFIG)]
    known = path.exists() and all(
        file.exists() and file.stat().st_mtime <= path.stat().st_mtime for file in recipe
    )
    return ancient(str(path)) if known else str(path)


def image_of(tree):
    """The identity of the image that the programs of a build tree are built in; none on the bare machine."""
    return [identity()] if IMAGE and tree == container.tree(CONFIG, contained=True) else []


# All that a campaign runs, and nothing measured: what sbatch scripts submitted by hand need to be there.
rule programs:
    input:
        sorted({file for job in JOBS for file in programs_of(job)}),


rule program:
    input:
        sources=lambda wildcards: sources.source_files(wildcards.program),
        image=lambda wildcards: image_of(wildcards.tree),
    output:
        program=update("build/{tree}/bin/{program}"),
        sources="build/{tree}/sources/{program}.txt",
    log:
        f"{RESULTS}/logs/program/{{tree}}/{{program}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/program/{{tree}}/{{program}}.tsv"
    priority: 100
    retries: 0
    resources:
        machine=1,
        mem_mb=4000,
        runtime=30,
    params:
        backend=CONFIG.backend,
        toolchain=CONFIG.system["toolchain"],
        image=lambda wildcards: shlex.join(
            ["--image", container.image(CONFIG)] if image_of(wildcards.tree) else []
        ),
        digest=lambda wildcards: sources.source_digest(wildcards.program),
    message:
        "Building {wildcards.program} for the {params.backend} backend"
    shell:
        "TOOLCHAIN={params.toolchain} envs/build {params.backend} {params.image} {wildcards.program} > {log} 2>&1"
        " && touch {output.program} && echo {params.digest} > {output.sources}"


if IMAGE and not GIVEN:

    rule image:
        input:
            container.recipe_files(CONFIG),
        output:
            image=update("build/images/{image}.sif"),
            digest=update("build/images/{image}.sha256"),
            recipe=update("build/images/{image}.recipe"),
        log:
            f"{RESULTS}/logs/image/{{image}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/image/{{image}}.tsv"
        priority: 200
        retries: 0
        localrule: True
        resources:
            machine=1,
            mem_mb=4000,
            runtime=60,
        params:
            command=shlex.join(container.build_command(CONFIG)),
        message:
            "Building the image {wildcards.image} (some minutes the first time)"
        shell:
            "{params.command} > {log} 2>&1"


if GIVEN:

    rule image:
        input:
            container.recipe_files(CONFIG),
        output:
            digest="build/images/{image}.sha256",
        log:
            f"{RESULTS}/logs/image/{{image}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/image/{{image}}.tsv"
        priority: 200
        retries: 0
        localrule: True
        resources:
            machine=1,
            mem_mb=500,
            runtime=10,
        message:
            "Looking at the image {input}"
        shell:
            "(sha256sum < {input:q} | cut -d ' ' -f 1 > {output.digest}) 2> {log}"
