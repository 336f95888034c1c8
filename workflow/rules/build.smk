# The measured programs, for the backend of the system. `make` brings them up to date before a campaign; this is for
# Snakemake called by itself.


rule programs:
    input:
        sources=sorted({path for name in PROGRAMS for path in experiments.source_files(name)}),
    output:
        [update(launch.program_path(CONFIG, name)) for name in PROGRAMS],
    log:
        f"{RESULTS}/logs/programs.log",
    benchmark:
        f"{RESULTS}/benchmarks/programs.tsv"
    retries: 0
    resources:
        machine=1,
        mem_mb=4000,
        runtime=30,
    params:
        backend=CONFIG.backend,
        toolchain=CONFIG.system["toolchain"],
    message:
        "Building the programs for the {params.backend} backend"
    shell:
        "TOOLCHAIN={params.toolchain} envs/build {params.backend} > {log} 2>&1 && touch {output}"
