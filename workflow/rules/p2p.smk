# Between devices of one node, by one process.


rule p2p_copy:
    input:
        needs("p2p_copy"),
    output:
        f"{RESULTS}/records/p2p_copy/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_copy/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_copy/{{job}}.tsv"
    wildcard_constraints:
        job=names("p2p_copy"),
    retries: again(1)
    resources:
        **measured("p2p_copy"),
    params:
        command=command("p2p_copy"),
    message:
        "Copies between two devices ({wildcards.job})"
    shell:
        MEASURE


rule p2p_latency:
    input:
        needs("p2p_latency"),
    output:
        f"{RESULTS}/records/p2p_latency/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_latency/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_latency/{{job}}.tsv"
    wildcard_constraints:
        job=names("p2p_latency"),
    retries: again(1)
    resources:
        **measured("p2p_latency"),
    params:
        command=command("p2p_latency"),
    message:
        "Latency between two devices ({wildcards.job})"
    shell:
        MEASURE


rule p2p_host:
    input:
        needs("p2p_host"),
    output:
        f"{RESULTS}/records/p2p_host/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_host/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_host/{{job}}.tsv"
    wildcard_constraints:
        job=names("p2p_host"),
    retries: again(1)
    resources:
        **measured("p2p_host"),
    params:
        command=command("p2p_host"),
    message:
        "Copies between host and device ({wildcards.job})"
    shell:
        MEASURE


rule p2p_route:
    input:
        needs("p2p_route"),
    output:
        f"{RESULTS}/records/p2p_route/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_route/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_route/{{job}}.tsv"
    wildcard_constraints:
        job=names("p2p_route"),
    retries: again(1)
    resources:
        **measured("p2p_route"),
    params:
        command=command("p2p_route"),
    message:
        "Copies through a third device ({wildcards.job})"
    shell:
        MEASURE


rule p2p_fanout:
    input:
        needs("p2p_fanout"),
    output:
        f"{RESULTS}/records/p2p_fanout/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_fanout/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_fanout/{{job}}.tsv"
    wildcard_constraints:
        job=names("p2p_fanout"),
    retries: again(1)
    resources:
        **measured("p2p_fanout"),
    params:
        command=command("p2p_fanout"),
    message:
        "One to all, all to one, all pairs ({wildcards.job})"
    shell:
        MEASURE


rule p2p_atomics:
    input:
        needs("p2p_atomics"),
    output:
        f"{RESULTS}/records/p2p_atomics/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_atomics/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_atomics/{{job}}.tsv"
    wildcard_constraints:
        job=names("p2p_atomics"),
    retries: again(1)
    resources:
        **measured("p2p_atomics"),
    params:
        command=command("p2p_atomics"),
    message:
        "Atomic additions to the memory of another device ({wildcards.job})"
    shell:
        MEASURE
