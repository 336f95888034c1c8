# Between devices of one node, by one process.


rule p2p_copy:
    input:
        program=binary("p2p"),
        sources=sources_of("p2p"),
    output:
        f"{RESULTS}/records/p2p_copy/{{sweep}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_copy/{{sweep}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_copy/{{sweep}}.repeat{{repeat}}.tsv"
    retries: 1
    resources:
        machine=1,
        nodes=resource("p2p_copy", "nodes"),
        ranks=resource("p2p_copy", "ranks"),
        devices=resource("p2p_copy", "devices"),
        mem_mb=resource("p2p_copy", "mem_mb"),
        runtime=resource("p2p_copy", "runtime"),
    params:
        command=command("p2p_copy"),
    message:
        "Copies between two devices ({wildcards.sweep}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule p2p_latency:
    input:
        program=binary("p2p"),
        sources=sources_of("p2p"),
    output:
        f"{RESULTS}/records/p2p_latency/{{sweep}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_latency/{{sweep}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_latency/{{sweep}}.repeat{{repeat}}.tsv"
    retries: 1
    resources:
        machine=1,
        nodes=resource("p2p_latency", "nodes"),
        ranks=resource("p2p_latency", "ranks"),
        devices=resource("p2p_latency", "devices"),
        mem_mb=resource("p2p_latency", "mem_mb"),
        runtime=resource("p2p_latency", "runtime"),
    params:
        command=command("p2p_latency"),
    message:
        "Latency between two devices ({wildcards.sweep}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule p2p_host:
    input:
        program=binary("p2p"),
        sources=sources_of("p2p"),
    output:
        f"{RESULTS}/records/p2p_host/{{sweep}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_host/{{sweep}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_host/{{sweep}}.repeat{{repeat}}.tsv"
    retries: 1
    resources:
        machine=1,
        nodes=resource("p2p_host", "nodes"),
        ranks=resource("p2p_host", "ranks"),
        devices=resource("p2p_host", "devices"),
        mem_mb=resource("p2p_host", "mem_mb"),
        runtime=resource("p2p_host", "runtime"),
    params:
        command=command("p2p_host"),
    message:
        "Copies between host and device ({wildcards.sweep}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule p2p_route:
    input:
        program=binary("p2p"),
        sources=sources_of("p2p"),
    output:
        f"{RESULTS}/records/p2p_route/{{sweep}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_route/{{sweep}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_route/{{sweep}}.repeat{{repeat}}.tsv"
    retries: 1
    resources:
        machine=1,
        nodes=resource("p2p_route", "nodes"),
        ranks=resource("p2p_route", "ranks"),
        devices=resource("p2p_route", "devices"),
        mem_mb=resource("p2p_route", "mem_mb"),
        runtime=resource("p2p_route", "runtime"),
    params:
        command=command("p2p_route"),
    message:
        "Copies through a third device ({wildcards.sweep}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule p2p_fanout:
    input:
        program=binary("p2p"),
        sources=sources_of("p2p"),
    output:
        f"{RESULTS}/records/p2p_fanout/{{sweep}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/p2p_fanout/{{sweep}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/p2p_fanout/{{sweep}}.repeat{{repeat}}.tsv"
    retries: 1
    resources:
        machine=1,
        nodes=resource("p2p_fanout", "nodes"),
        ranks=resource("p2p_fanout", "ranks"),
        devices=resource("p2p_fanout", "devices"),
        mem_mb=resource("p2p_fanout", "mem_mb"),
        runtime=resource("p2p_fanout", "runtime"),
    params:
        command=command("p2p_fanout"),
    message:
        "One to all, all to one, all pairs ({wildcards.sweep}, repeat {wildcards.repeat})"
    shell:
        MEASURE
