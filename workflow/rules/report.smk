# From records to one page. `system` and `campaign` are wildcards here: a report of records that are there already,
# measured elsewhere or published, is made without measuring.


localrules:
    resolved_config,
    table,
    report,


rule resolved_config:
    input:
        CONFIG.sources(),
    output:
        f"{RESULTS}/config.resolved.yaml",
    log:
        f"{RESULTS}/logs/resolved_config.log",
    benchmark:
        f"{RESULTS}/benchmarks/resolved_config.tsv"
    retries: 0
    resources:
        mem_mb=500,
        runtime=5,
    params:
        arguments=shlex.join(["--system", CONFIG.system_name, "--campaign", CONFIG.campaign_name]),
        content=CONFIG.digest(),
    message:
        "Writing down what is asked for, with every default"
    shell:
        "{WEFT} config {params.arguments} --output {output} 2> {log}"


rule table:
    input:
        records=records_of,
        code=package_files("weft/*.py", "schemas/record.schema.json"),
    output:
        table="results/{system}/{campaign}/table.parquet",
        problems="results/{system}/{campaign}/problems.json",
    log:
        "results/{system}/{campaign}/logs/table.log",
    benchmark:
        "results/{system}/{campaign}/benchmarks/table.tsv"
    retries: 0
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Gathering all records into one table"
    shell:
        "{WEFT} table --records {input.records:q} --output {output.table:q} --problems {output.problems:q} 2> {log:q}"


rule report:
    input:
        table="results/{system}/{campaign}/table.parquet",
        problems="results/{system}/{campaign}/problems.json",
        config=resolved_config_of,
        code=package_files("weft/*.py", "weft/figures/**/*.py", "weft/report/**/*.py", "report/**/*"),
    output:
        page=report("results/{system}/{campaign}/report.html", category="Report"),
        figures=directory("results/{system}/{campaign}/figures"),
    log:
        "results/{system}/{campaign}/logs/report.log",
    benchmark:
        "results/{system}/{campaign}/benchmarks/report.tsv"
    retries: 0
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Drawing the figures and writing the report"
    shell:
        "{WEFT} report --table {input.table:q} --problems {input.problems:q} --config {input.config:q}"
        " --title {wildcards.system:q}/{wildcards.campaign:q} --output {output.page:q} --figures {output.figures:q} 2> {log:q}"
