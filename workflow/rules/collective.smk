# Collective operations, one process a rank. Two retries, as in pt2pt.smk.


rule collective_mpi:
    input:
        program=binary("collective"),
        sources=sources_of("collective"),
    output:
        f"{RESULTS}/records/collective_mpi/{{sweep}}.ranks{{ranks}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/collective_mpi/{{sweep}}.ranks{{ranks}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/collective_mpi/{{sweep}}.ranks{{ranks}}.repeat{{repeat}}.tsv"
    retries: 2
    resources:
        machine=1,
        nodes=resource("collective_mpi", "nodes"),
        ranks=resource("collective_mpi", "ranks"),
        devices=resource("collective_mpi", "devices"),
        mem_mb=resource("collective_mpi", "mem_mb"),
        runtime=resource("collective_mpi", "runtime"),
    params:
        command=command("collective_mpi"),
    message:
        "MPI collectives ({wildcards.sweep}, {wildcards.ranks} ranks, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule collective_nccl:
    input:
        program=binary("collective"),
        sources=sources_of("collective"),
    output:
        f"{RESULTS}/records/collective_nccl/{{sweep}}.ranks{{ranks}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/collective_nccl/{{sweep}}.ranks{{ranks}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/collective_nccl/{{sweep}}.ranks{{ranks}}.repeat{{repeat}}.tsv"
    retries: 2
    resources:
        machine=1,
        nodes=resource("collective_nccl", "nodes"),
        ranks=resource("collective_nccl", "ranks"),
        devices=resource("collective_nccl", "devices"),
        mem_mb=resource("collective_nccl", "mem_mb"),
        runtime=resource("collective_nccl", "runtime"),
    params:
        command=command("collective_nccl"),
    message:
        "NCCL collectives ({wildcards.sweep}, {wildcards.ranks} ranks, repeat {wildcards.repeat})"
    shell:
        MEASURE
