"""Puts the page together from drawn figures, tables and the template, and writes everything or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from weft.errors import BadInput
from weft.figures import Dataset, style
from weft.figures import quantities as q
from weft.figures.paths import measured_paths
from weft.figures.spread import name_of, repeat_spread
from weft.report import holes, paths, provenance, sections
from weft.report.drawing import Drawn, draw_all
from weft.report.key_numbers import trimmed
from weft.report.tables import SUBJECTS, device_rows

TEMPLATES = Path(__file__).resolve().parents[2] / "report"
EMBEDDED_BYTES = 400_000  # a larger CSV or SVG is linked beside the page instead of carried in it


def build_report(
    table: Path,
    problems: Path,
    output: Path,
    figures: Path,
    config: Path | None,
    title: str | None,
    against: Path | None = None,
) -> None:
    """Write the page to output and <key>.svg and <key>.csv of every figure into the folder figures.

    table, problems: see weft.table; config: resolved configuration, shown as it is; title: by default the
    system and campaign; against: the table of another run, to compare with. The page appears whole or not
    at all. Raises BadInput if an input cannot be read or an output written.
    """
    found = _problems(problems)
    resolved = _text(config) if config else ""
    settings = _settings(config, resolved)
    dataset = Dataset(table, _sampling(settings), Dataset(against) if against else None)
    drawn = draw_all(dataset)
    page = _render(dataset, drawn, found, resolved, settings, title, _beside(figures, output))
    partial = output.with_name(f"{output.name}.partial")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(page, encoding="utf-8")
        _write_figures(figures, drawn)
        partial.replace(output)
    except OSError as error:
        if partial.is_file():
            partial.unlink()
        raise BadInput(f"{error.filename or output} cannot be written: {error.strerror}.") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error


def _problems(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path} line {error.lineno}: not JSON; make it anew with `weft table`.") from error
    if not isinstance(found, list):
        raise BadInput(f"{path} is not a list of problems; make it anew with `weft table`.")
    return found


def _settings(path: Path | None, text: str) -> dict[str, Any]:
    try:
        settings = yaml.safe_load(text) if text else {}
    except yaml.YAMLError as error:
        raise BadInput(f"{path} is not YAML; make it anew with `weft config`.") from error
    return settings if isinstance(settings, dict) else {}


def _sampling(settings: dict[str, Any]) -> dict[str, Any]:
    return (settings.get("campaign") or {}).get("sampling") or {}


def _beside(figures: Path, output: Path) -> str:
    """How the page names the folder of figures."""
    try:
        return figures.resolve().relative_to(output.resolve().parent).as_posix()
    except ValueError:
        return figures.resolve().as_uri()


def _write_figures(folder: Path, drawn: Iterable[Drawn]) -> None:
    """Write every figure's files, then remove those of figures that are drawn no longer."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = set()
    for figure, csv in (pair for subject in drawn for pair in subject.figures):
        kept.add(figure.key)
        for suffix, text in (("svg", style.standalone(figure.svg)), ("csv", csv)):
            partial = folder / f"{figure.key}.{suffix}.partial"
            partial.write_text(text, encoding="utf-8")
            partial.replace(folder / f"{figure.key}.{suffix}")
    for old in folder.glob("*.svg"):
        if old.stem not in kept and old.with_suffix(".csv").exists():
            old.unlink()
            old.with_suffix(".csv").unlink()


def _render(
    dataset: Dataset,
    drawn: list[Drawn],
    problems: list[dict[str, Any]],
    resolved: str,
    settings: dict[str, Any],
    title: str | None,
    beside: str,
) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": q.count,
        "percent": q.percent,
        "name_of": name_of,
        "svg": Markup,
        "plural": q.plural,
    }
    texts = yaml.safe_load((TEMPLATES / "subjects.yaml").read_text(encoding="utf-8"))
    counts = dataset.counts
    by_outcome = {
        name: int(counts.loc[counts["outcome"] == name, "rows"].sum())
        for name in ("measured", *holes.OUTCOMES)
    }
    unconverged = holes.unconverged(dataset)
    listed, groups = holes.holes(dataset)
    run_list, run_count = provenance.runs(dataset)
    environments, environment_count = provenance.environments(dataset)
    metadata = dataset.metadata
    ways = measured_paths(dataset)
    systems, campaigns = ([str(v) for v in counts[n].dropna().unique()] for n in ("system", "campaign"))
    measured = counts[counts["outcome"] == "measured"]
    return environment.get_template("page.html.j2").render(
        title=title or " · ".join((", ".join(systems) or "no system", ", ".join(campaigns) or "no campaign")),
        css=Markup(style.css_variables() + (TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup((TEMPLATES / "page.js").read_text(encoding="utf-8")),
        machine=provenance.machine(dataset),
        note=provenance.backend_note(dataset),
        sources=provenance.sources(dataset),
        commits=provenance.commits(dataset),
        span=provenance.span(dataset),
        systems=systems,
        campaigns=campaigns,
        keys=trimmed(number for subject in drawn for number in subject.keys),
        outcomes=by_outcome,
        benchmarks=[
            (name_of(str(b)), int(r))
            for b, r in measured.groupby("benchmark", observed=True)["rows"].sum().items()
            if r
        ],
        repeats=int(measured["repeat"].nunique()),
        files=metadata.get("files", 0),
        rows=int(counts["rows"].sum()),
        unconverged=unconverged,
        unconverged_rows=sum(u.rows for u in unconverged),
        holes=listed,
        hole_groups=groups,
        problems=problems,
        skipped=settings.get("skipped") or [],
        sections=[
            _section(d, texts[d.subject], beside) | {"warning": paths.warnings(ways, SUBJECTS[d.subject])}
            for d in drawn
            if d.figures or d.table or _has_more(d.subject, dataset)
        ],
        health=sections.health_tables(dataset.health),
        path_notes=paths.path_notes(dataset, ways),
        path_tables=paths.path_tables(ways),
        devices=device_rows(metadata.get("devices", [])[:64]),
        affinity=sections.affinity(metadata),
        spread=sections.spread_rows(repeat_spread(dataset)),
        container_tables=sections.container_tables(dataset),
        against_tables=sections.against_tables(dataset),
        witness=sections.witness_rows(dataset),
        environments=environments,
        environment_count=environment_count,
        jobs=provenance.jobs(dataset),
        runs=run_list,
        run_count=run_count,
        config=resolved,
        definitions=texts["definitions"],
    )


def _has_more(subject: str, dataset: Dataset) -> bool:
    """Whether a subject without figures has tables of its own."""
    health = dataset.health
    return bool(
        (subject == "topology" and dataset.metadata.get("devices"))
        or (subject == "health" and (health.sick or health.untested))
        or (subject == "path" and dataset.benchmarks())
    )


def _section(drawn: Drawn, text: dict[str, str], beside: str) -> dict[str, Any]:
    figures = []
    for figure, csv in drawn.figures:
        alone = style.standalone(figure.svg)
        figures.append(
            {
                "key": figure.key,
                "title": figure.title,
                "caption": figure.caption,
                "shaped": figure.shaped,
                "wide": figure.wide,
                "measurements": figure.measurements,
                "left_out": figure.left_out,
                "svg": figure.svg,
                "csv_link": _link(csv, "text/csv;charset=utf-8", f"{beside}/{figure.key}.csv"),
                "svg_link": _link(alone, "image/svg+xml;charset=utf-8", f"{beside}/{figure.key}.svg"),
            }
        )
    return {
        "key": drawn.subject,
        "title": text["title"],
        "intro": text["intro"],
        "figures": figures,
        "table": drawn.table,
    }


def _link(text: str, kind: str, beside: str) -> str:
    """A data: URI, or the file beside the page where the text is large."""
    if len(text) > EMBEDDED_BYTES:
        return beside
    if kind.startswith("image/svg"):  # a browser needs no more escaped in a quoted attribute: half the size
        return f"data:{kind}," + text.replace("%", "%25").replace("#", "%23").replace('"', "'").replace(
            "\n", ""
        )
    return f"data:{kind},{quote(text, safe=' !$()*+,-./:;=?@_~[]{}|^')}"
