"""What the tests of tables share."""

import pytest

from support.built_table import BuiltTable
from support.synthetic import write_file


@pytest.fixture
def table_of(tmp_path):
    """Build a table of records in files; each file is a list of records, its end is added."""

    def make(*files, **options):
        for index, records in enumerate(files):
            write_file(tmp_path / f"records/{index}.jsonl", records)
        return BuiltTable(tmp_path, sorted((tmp_path / "records").glob("*.jsonl")), **options)

    return make
