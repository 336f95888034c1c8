# MPI messages between ranks. A job is one geometry with GPUDirect on or off.
# Two retries: OpenMPI 5 crashes in MPI_Init now and then when cores are short.


rule pt2pt_latency:
    input:
        program=binary("pt2pt"),
        sources=sources_of("pt2pt"),
    output:
        f"{RESULTS}/records/pt2pt_latency/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_latency/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_latency/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.tsv"
    retries: 2
    resources:
        machine=1,
        nodes=resource("pt2pt_latency", "nodes"),
        ranks=resource("pt2pt_latency", "ranks"),
        devices=resource("pt2pt_latency", "devices"),
        mem_mb=resource("pt2pt_latency", "mem_mb"),
        runtime=resource("pt2pt_latency", "runtime"),
    params:
        command=command("pt2pt_latency"),
    message:
        "MPI latency ({wildcards.sweep}, {wildcards.ranks} ranks, GPUDirect {wildcards.gpudirect}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule pt2pt_bandwidth:
    input:
        program=binary("pt2pt"),
        sources=sources_of("pt2pt"),
    output:
        f"{RESULTS}/records/pt2pt_bandwidth/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_bandwidth/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_bandwidth/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.tsv"
    retries: 2
    resources:
        machine=1,
        nodes=resource("pt2pt_bandwidth", "nodes"),
        ranks=resource("pt2pt_bandwidth", "ranks"),
        devices=resource("pt2pt_bandwidth", "devices"),
        mem_mb=resource("pt2pt_bandwidth", "mem_mb"),
        runtime=resource("pt2pt_bandwidth", "runtime"),
    params:
        command=command("pt2pt_bandwidth"),
    message:
        "MPI bandwidth ({wildcards.sweep}, {wildcards.ranks} ranks, GPUDirect {wildcards.gpudirect}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule pt2pt_bidirectional_bandwidth:
    input:
        program=binary("pt2pt"),
        sources=sources_of("pt2pt"),
    output:
        f"{RESULTS}/records/pt2pt_bidirectional_bandwidth/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_bidirectional_bandwidth/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_bidirectional_bandwidth/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.tsv"
    retries: 2
    resources:
        machine=1,
        nodes=resource("pt2pt_bidirectional_bandwidth", "nodes"),
        ranks=resource("pt2pt_bidirectional_bandwidth", "ranks"),
        devices=resource("pt2pt_bidirectional_bandwidth", "devices"),
        mem_mb=resource("pt2pt_bidirectional_bandwidth", "mem_mb"),
        runtime=resource("pt2pt_bidirectional_bandwidth", "runtime"),
    params:
        command=command("pt2pt_bidirectional_bandwidth"),
    message:
        "MPI bandwidth both ways ({wildcards.sweep}, {wildcards.ranks} ranks, GPUDirect {wildcards.gpudirect}, repeat {wildcards.repeat})"
    shell:
        MEASURE


rule pt2pt_message_rate:
    input:
        program=binary("pt2pt"),
        sources=sources_of("pt2pt"),
    output:
        f"{RESULTS}/records/pt2pt_message_rate/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/pt2pt_message_rate/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pt2pt_message_rate/{{sweep}}.ranks{{ranks}}.gpudirect-{{gpudirect}}.repeat{{repeat}}.tsv"
    retries: 2
    resources:
        machine=1,
        nodes=resource("pt2pt_message_rate", "nodes"),
        ranks=resource("pt2pt_message_rate", "ranks"),
        devices=resource("pt2pt_message_rate", "devices"),
        mem_mb=resource("pt2pt_message_rate", "mem_mb"),
        runtime=resource("pt2pt_message_rate", "runtime"),
    params:
        command=command("pt2pt_message_rate"),
    message:
        "MPI message rate ({wildcards.sweep}, {wildcards.ranks} ranks, GPUDirect {wildcards.gpudirect}, repeat {wildcards.repeat})"
    shell:
        MEASURE
