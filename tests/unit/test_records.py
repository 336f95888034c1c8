"""Reading record files: what is good in them is used, what is wrong is said."""

import gzip

import orjson
import pytest

from support.examples import example, file
from support.synthetic import end, write_file
from weft.errors import BadInput
from weft.records import RecordFile, find_record_files


def read(path, name="a.jsonl"):
    records = RecordFile(path, name)
    return [(number, record) for number, _, record in records.measurements()], records


def measurements(count):
    return [example("measurement") | {"size_bytes": size + 1} for size in range(count)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.jsonl"


@pytest.fixture
def raw(path):
    write_file(path, [example("environment"), example("link"), *measurements(3)])
    return path.read_bytes()


def sentences(records):
    return [problem.sentence for problem in records.problems]


def test_whole_file_is_read_without_problems(path):
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in file()))
    found, records = read(path)
    assert [number for number, _ in found] == [6]
    assert found[0][1] == example("measurement")
    assert records.environment == example("environment")
    assert records.topology == [example(kind) for kind in ("device", "link", "nic", "nic_link")]
    assert records.problems == []


def test_compressed_file_is_read_the_same(path, raw, tmp_path):
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(raw[:500]) + gzip.compress(raw[500:]))
    assert read(packed)[0] == read(path)[0]
    assert read(packed)[1].problems == []


def test_missing_last_newline_is_no_problem(path, raw):
    path.write_bytes(raw[:-1])
    assert read(path)[1].problems == []


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_cut_anywhere_keeps_every_whole_line_and_is_said(path, raw, suffix):
    """At every byte of the plain file, and at many of the compressed one."""
    packed = raw if not suffix else gzip.compress(raw)
    target = path.with_name(f"a.jsonl{suffix}")
    for length in range(0, len(packed) - 1, 1 if not suffix else 7):
        target.write_bytes(packed[:length])
        found, records = read(target)
        if not suffix:
            whole = raw[:length].split(b"\n")
            assert len(found) == sum(line in whole for line in raw.split(b"\n")[2:5])
        assert [number for number, _ in found] == list(range(3, 3 + len(found)))
        assert records.problems, length
        assert any(
            "cut short" in said or "is empty" in said or "cannot be read" in said
            for said in sentences(records)
        )
        assert all(said.startswith("a.jsonl") and said.endswith(".") for said in sentences(records))


def test_cut_gzip_gives_the_measurements_before_the_cut(path, raw):
    many = b"".join(orjson.dumps(record) + b"\n" for record in [example("environment"), *measurements(5000)])
    packed = gzip.compress(many)
    target = path.with_suffix(".jsonl.gz")
    target.write_bytes(packed[: len(packed) // 2])
    found, records = read(target)
    assert 1000 < len(found) < 5000
    assert any("the compressed data end in the middle" in said for said in sentences(records))


def test_last_line_before_the_end_of_cut_gzip_data_is_used(path, raw):
    """Only the checksum is missing, and the last newline."""
    target = path.with_suffix(".jsonl.gz")
    target.write_bytes(gzip.compress(b"\n".join(raw.split(b"\n")[:5]))[:-8])
    found, _ = read(target)
    assert [number for number, _ in found] == [3, 4, 5]


def test_corrupt_gzip_is_said(path):
    target = path.with_suffix(".jsonl.gz")
    target.write_bytes(b"this is not gzip")
    found, records = read(target)
    assert found == []
    assert "cannot be read" in sentences(records)[0]


def test_bad_lines_are_named_and_the_others_used(path, raw):
    lines = raw.split(b"\n")
    lines[2] = b'{"record": "measurement", '
    lines[3] = lines[3].replace(b'"size_bytes":2', b'"size_bytes":-2')
    path.write_bytes(b"\n".join(lines))
    found, records = read(path)
    assert [record["size_bytes"] for _, record in found] == [3]
    assert [problem.line for problem in records.problems] == [3, 4]
    assert "a.jsonl line 3: the line is not JSON" in sentences(records)[0]
    assert (
        "a.jsonl line 4: measurement: size_bytes is -2; it must be at least 0; the line is left out."
        in sentences(records)
    )


def test_bad_bytes_are_no_json(path, raw):
    path.write_bytes(raw.replace(b'"an example"', b'"\xff\xfe"'))
    assert "not JSON" in sentences(read(path)[1])[0]


def test_many_bad_lines_are_counted(path):
    path.write_bytes(orjson.dumps(example("environment")) + b"\n{}" * 100 + b"\n" + orjson.dumps(end([])))
    _, records = read(path)
    assert len(records.problems) == 21
    assert "80 more lines are wrong" in sentences(records)[-1]


def test_missing_environment_is_said_and_measurements_used(path, raw):
    path.write_bytes(raw.split(b"\n", 1)[1])
    found, records = read(path)
    assert len(found) == 3
    assert records.environment is None
    assert [problem.line for problem in records.problems] == [1]
    assert "the first record is a link; it must be an environment" in sentences(records)[0]


def test_second_environment_is_said(path, raw):
    first = raw.split(b"\n")[0]
    path.write_bytes(first + b"\n" + raw)
    found, records = read(path)
    assert len(found) == 3
    assert "second environment" in sentences(records)[0]
    assert records.problems[0].line == 2


def test_end_must_be_last(path, raw):
    extra = orjson.dumps(example("measurement") | {"size_bytes": 99}) + b"\n"
    path.write_bytes(raw + extra)
    found, records = read(path)
    assert len(found) == 4
    assert "the end record must be the last line; 1 lines follow it" in sentences(records)[0]


def test_counts_of_the_end_must_match(path):
    records = [example("environment"), *measurements(3)]
    closing = end(records)
    for key, wrong, said in (
        ("measurements", 4, "end: measurements is 4; the file holds 3"),
        ("measurements", 2, "end: measurements is 2; the file holds 3"),
        ("outcomes", {"measured": 2, "unsupported": 1, "wrong": 0, "failed": 0},
        "end: outcomes.measured is 2; the file holds 3"),
    ):  # fmt: skip
        path.write_bytes(b"\n".join(map(orjson.dumps, [*records, closing | {key: wrong}])))
        found, result = read(path)
        assert len(found) == 3
        assert said in sentences(result)[0]


def test_a_bad_line_explains_a_count(path, raw):
    path.write_bytes(raw.replace(b'"size_bytes":2,', b'"size_bytes":null,'))
    assert len(read(path)[1].problems) == 1


def test_empty_and_unreadable_files_are_said(path, tmp_path):
    path.write_bytes(b"")
    assert "the file is empty; it must begin with an environment" in sentences(read(path)[1])[0]
    found, records = read(tmp_path / "missing.jsonl")
    assert found == []
    assert "there is no such file: what it would hold was not measured." in sentences(records)[0]


def test_files_are_found_below_folders(tmp_path):
    for name in ("b/x.jsonl", "a.jsonl.gz", "b/notes.txt", "b/c/y.jsonl", "z.jsonl.partial"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    names = [
        path.relative_to(tmp_path).as_posix()
        for path in find_record_files([tmp_path, tmp_path / "b/x.jsonl"])
    ]
    assert names == ["a.jsonl.gz", "b/c/y.jsonl", "b/x.jsonl"]


def test_result_measured_here_counts_before_the_packed_reference(tmp_path):
    write_file(tmp_path / "a.jsonl", [])
    write_file(tmp_path / "a.jsonl.gz", [])
    write_file(tmp_path / "b.jsonl.gz", [])
    assert [path.name for path in find_record_files([tmp_path])] == ["a.jsonl", "b.jsonl.gz"]


def test_no_files_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no record file"):
        find_record_files([tmp_path])
    with pytest.raises(BadInput, match="does not exist"):
        find_record_files([tmp_path / "nowhere"])
