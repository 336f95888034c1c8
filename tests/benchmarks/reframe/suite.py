"""Experiments of Weft as ReFrame tests: the same launch lines and the same demands on the scheduler.

WEFT_EXPERIMENTS names a JSON file, a list with of each experiment its name, script, options and record.
"""

import json
import os
from pathlib import Path
from typing import ClassVar

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function

EXPERIMENTS = {
    experiment["name"]: experiment
    for experiment in json.loads(Path(os.environ["WEFT_EXPERIMENTS"]).read_text(encoding="utf-8"))
}


@rfm.simple_test
class Experiment(rfm.RunOnlyRegressionTest):
    """One experiment: its launch line ends well and leaves a record."""

    experiment = parameter(list(EXPERIMENTS))
    valid_systems: ClassVar = ["box:gpu"]
    valid_prog_environs: ClassVar = ["builtin"]
    executable = "bash"

    @run_before("run")
    def take_its_place(self) -> None:
        mine = EXPERIMENTS[self.experiment]
        self.executable_opts = [mine["script"]]
        self.job.options = mine["options"]

    @sanity_function
    def it_has_a_record(self):
        return sn.path_exists(EXPERIMENTS[self.experiment]["record"])
