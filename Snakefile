# Weft: from a campaign (config/campaigns) on a system (config/systems) to one report.
#
#   snakemake --profile profiles/local -n                                   what would run, and why
#   snakemake --profile profiles/local --config system=local campaign=full  another campaign
#   snakemake --profile profiles/local -R p2p_copy                          one experiment anew
#   snakemake --profile profiles/local -f results/local/smoke/records/topology/repeat0.jsonl    one result anew
#   snakemake --profile profiles/local results/published/dgx1_p100/report.html    a report of records that are there
#
# `make campaign` adds what people like: the programs brought up to date, one campaign at a time, progress, a verdict.
#
# results/SYSTEM/CAMPAIGN/
#   config.resolved.yaml                 what was asked for, every default filled in
#   records/EXPERIMENT/SWEEP[.ranksN][.nodesN][.gpudirect-on][.algorithm-ring][.container-off].repeatN.jsonl     what a program measured (records/topology/repeat0.jsonl)
#   logs/…  benchmarks/…                 what a program said, and what it cost, by the same names
#   table.parquet  problems.json         all records as one table; the files that could not be read
#   report.html  figures/                the report; each figure with its values


include: "workflow/rules/common.smk"
include: "workflow/rules/build.smk"
include: "workflow/rules/topology.smk"
include: "workflow/rules/p2p.smk"
include: "workflow/rules/pt2pt.smk"
include: "workflow/rules/collective.smk"
include: "workflow/rules/report.smk"


onstart:
    check_site()


onerror:
    say_if_full()


rule all:
    default_target: True
    input:
        f"{RESULTS}/config.resolved.yaml",
        f"{RESULTS}/report.html",
        RECORDS,


# Measure only; `snakemake report` would be the rest.
rule records:
    input:
        RECORDS,
