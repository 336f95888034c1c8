# What is joined to what, and how fast it could be at most. Once a campaign: it is what it is.


rule topology:
    input:
        needs("topology"),
    output:
        f"{RESULTS}/records/topology/{{job}}.jsonl",
    log:
        f"{RESULTS}/logs/topology/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/topology/{{job}}.tsv"
    wildcard_constraints:
        job=names("topology"),
    priority: 50
    retries: again(1)
    resources:
        **measured("topology"),
    params:
        command=command("topology"),
    message:
        "Topology: devices, links and their limits"
    shell:
        MEASURE
