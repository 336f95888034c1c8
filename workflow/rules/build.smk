# The measured programs, for the backend of the system. A program whose sources are as before is no news to what it
# measured, however often it was built.


rule program:
    input:
        sources=source_files,
    output:
        program=update(f"build/{CONFIG.backend}/bin/{{program}}"),
        sources=sources_of("{program}"),
    log:
        f"{RESULTS}/logs/program/{{program}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/program/{{program}}.tsv"
    priority: 100
    retries: 0
    resources:
        machine=1,
        mem_mb=4000,
        runtime=30,
    params:
        backend=CONFIG.backend,
        toolchain=CONFIG.system["toolchain"],
        digest=source_digest,
    message:
        "Building {wildcards.program} for the {params.backend} backend"
    shell:
        "TOOLCHAIN={params.toolchain} envs/build {params.backend} {wildcards.program} > {log} 2>&1"
        " && touch {output.program} && echo {params.digest} > {output.sources}"
