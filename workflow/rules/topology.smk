# What is joined to what, and how fast it could be at most. Once a campaign: it is what it is.


rule topology:
    input:
        program=binary("topology"),
        sources=sources_of("topology"),
    output:
        f"{RESULTS}/records/topology/repeat{{repeat}}.jsonl",
    log:
        f"{RESULTS}/logs/topology/repeat{{repeat}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/topology/repeat{{repeat}}.tsv"
    priority: 50
    retries: 1
    resources:
        machine=1,
        nodes=resource("topology", "nodes"),
        ranks=resource("topology", "ranks"),
        devices=resource("topology", "devices"),
        mem_mb=resource("topology", "mem_mb"),
        runtime=resource("topology", "runtime"),
    params:
        command=command("topology"),
    message:
        "Topology: devices, links and their limits"
    shell:
        MEASURE
