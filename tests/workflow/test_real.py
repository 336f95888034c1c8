"""The whole pipeline for real: the built programs measure this machine, and the report is drawn from it."""

import json
import re

from weft import table

RESULTS = "results/tiny/tiny"


def test_smoke(new_checkout, tmp_path, build):
    checkout = new_checkout(tmp_path.resolve(), real=build / "bin")
    done = checkout.campaign()
    assert done.returncode == 0, done.stdout
    folder = checkout.folder / RESULTS
    assert json.loads((folder / "problems.json").read_text()) == []
    rows, metadata = table.read_table(folder / "table.parquet")
    assert len(metadata["devices"]) == 2
    assert {"p2p.copy", "p2p.host", "pt2pt.latency", "collective.all_reduce"} == set(rows["benchmark"])
    assert set(rows["outcome"]) <= {"measured", "unsupported"}
    measured = rows[rows["outcome"] == "measured"]
    assert set(measured["repeat"]) == {0, 1}
    assert set(measured.loc[measured["experiment"] == "collective_mpi", "ranks"]) == {2, 3}
    assert set(measured.loc[measured["experiment"] == "pt2pt_latency", "gpudirect"]) == {True, False}
    page = (folder / "report.html").read_text()
    assert "<svg" in page
    assert not re.search(r"""(src|href)=["']https?:""", page.split("<svg")[0])
    assert len(list((folder / "figures").glob("*.svg"))) == len(list((folder / "figures").glob("*.csv"))) > 3
