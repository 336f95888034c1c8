# Collective operations, and nccl-tests as a witness. Two retries, as in pt2pt.smk.


rule collective_mpi:
    input:
        needs("collective_mpi"),
    output:
        f"{RESULTS}/records/collective_mpi/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/collective_mpi/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/collective_mpi/{{job}}.tsv"
    wildcard_constraints:
        job=names("collective_mpi"),
    retries: again(2)
    resources:
        **measured("collective_mpi"),
    params:
        command=command("collective_mpi"),
    message:
        "MPI collectives ({wildcards.job})"
    shell:
        MEASURE_RANKS


rule collective_nccl:
    input:
        needs("collective_nccl"),
    output:
        f"{RESULTS}/records/collective_nccl/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/collective_nccl/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/collective_nccl/{{job}}.tsv"
    wildcard_constraints:
        job=names("collective_nccl"),
    retries: again(2)
    resources:
        **measured("collective_nccl"),
    params:
        command=command("collective_nccl"),
    message:
        "NCCL collectives ({wildcards.job})"
    shell:
        MEASURE_RANKS


rule nccl_tests:
    input:
        needs("nccl_tests"),
    output:
        f"{RESULTS}/records/nccl_tests/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/nccl_tests/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/nccl_tests/{{job}}.tsv"
    wildcard_constraints:
        job=names("nccl_tests"),
    retries: again(2)
    resources:
        **measured("nccl_tests"),
    params:
        command=command("nccl_tests"),
    message:
        "nccl-tests beside them ({wildcards.job})"
    shell:
        MEASURE
