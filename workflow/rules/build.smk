# The measured programs, for the backend of the system. `make` brings them up to date before a campaign; this is for
# Snakemake called by itself.


rule program:
    input:
        sources=sources_of,
    output:
        update(f"build/{CONFIG.backend}/bin/{{program}}"),
    log:
        f"{RESULTS}/logs/program/{{program}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/program/{{program}}.tsv"
    retries: 0
    resources:
        machine=1,
        mem_mb=4000,
        runtime=30,
    params:
        backend=CONFIG.backend,
        toolchain=CONFIG.system["toolchain"],
    message:
        "Building {wildcards.program} for the {params.backend} backend"
    shell:
        "TOOLCHAIN={params.toolchain} envs/build {params.backend} {wildcards.program} > {log} 2>&1 && touch {output}"
