# MPI messages between ranks. A job is one geometry with GPUDirect on or off.
# Two retries: OpenMPI 5 crashes in MPI_Init now and then when cores are short.


rule pt2pt_latency:
    input:
        needs("pt2pt_latency"),
    output:
        f"{RESULTS}/records/pt2pt_latency/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_latency/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_latency/{{job}}.tsv"
    wildcard_constraints:
        job=names("pt2pt_latency"),
    retries: again(2)
    resources:
        **measured("pt2pt_latency"),
    params:
        command=command("pt2pt_latency"),
    message:
        "MPI latency ({wildcards.job})"
    shell:
        MEASURE_RANKS


rule pt2pt_bandwidth:
    input:
        needs("pt2pt_bandwidth"),
    output:
        f"{RESULTS}/records/pt2pt_bandwidth/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_bandwidth/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_bandwidth/{{job}}.tsv"
    wildcard_constraints:
        job=names("pt2pt_bandwidth"),
    retries: again(2)
    resources:
        **measured("pt2pt_bandwidth"),
    params:
        command=command("pt2pt_bandwidth"),
    message:
        "MPI bandwidth ({wildcards.job})"
    shell:
        MEASURE_RANKS


rule pt2pt_bidirectional_bandwidth:
    input:
        needs("pt2pt_bidirectional_bandwidth"),
    output:
        f"{RESULTS}/records/pt2pt_bidirectional_bandwidth/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_bidirectional_bandwidth/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_bidirectional_bandwidth/{{job}}.tsv"
    wildcard_constraints:
        job=names("pt2pt_bidirectional_bandwidth"),
    retries: again(2)
    resources:
        **measured("pt2pt_bidirectional_bandwidth"),
    params:
        command=command("pt2pt_bidirectional_bandwidth"),
    message:
        "MPI bandwidth both ways ({wildcards.job})"
    shell:
        MEASURE_RANKS


rule pt2pt_message_rate:
    input:
        needs("pt2pt_message_rate"),
    output:
        f"{RESULTS}/records/pt2pt_message_rate/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_message_rate/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_message_rate/{{job}}.tsv"
    wildcard_constraints:
        job=names("pt2pt_message_rate"),
    retries: again(2)
    resources:
        **measured("pt2pt_message_rate"),
    params:
        command=command("pt2pt_message_rate"),
    message:
        "MPI message rate ({wildcards.job})"
    shell:
        MEASURE_RANKS
