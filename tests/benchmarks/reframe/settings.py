"""The cluster in a box, as ReFrame wants to know it; what is not said is ReFrame's default."""

site_configuration = {
    "systems": [
        {
            "name": "box",
            "hostnames": ["ctl"],
            "partitions": [
                {
                    "name": "gpu",
                    "scheduler": "slurm",
                    "launcher": "local",  # the launch line has its own
                    "environs": ["builtin"],
                    "max_jobs": 50,  # as in profiles/slurm
                }
            ],
        }
    ],
    "environments": [{"name": "builtin"}],
    "general": [{"remote_detect": False}],
    "storage": [{"enable": False}],
}
