"""How every figure looks: one typography, one palette, and SVG whose colours are the page's CSS variables."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from io import BytesIO

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure as Canvas

mpl.use("svg")

# Colours are written as sentinels and become var(--name) in the SVG: the page decides, by theme.
INK, MUTED, GRID, SURFACE, LIMIT = "#010101", "#020202", "#030303", "#040404", "#050505"
DATA = tuple(f"#0600{i:02x}" for i in range(8))
RAMP_STEPS = 16
RAMP = tuple(f"#0700{i:02x}" for i in range(RAMP_STEPS))
RAMP_INK = tuple(f"#0800{i:02x}" for i in range(RAMP_STEPS))
NO_DATA = "#090000"

VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    SURFACE: "surface",
    LIMIT: "limit",
    NO_DATA: "no-data",
    **{colour: f"data-{i}" for i, colour in enumerate(DATA)},
    **{colour: f"ramp-{i}" for i, colour in enumerate(RAMP)},
    **{colour: f"ramp-ink-{i}" for i, colour in enumerate(RAMP_INK)},
}

# Okabe and Ito's set, darkened on white and lightened on black until each stands 3:1 from its ground.
DATA_LIGHT = ("#0068a8", "#c24a00", "#007a5a", "#9c3f86", "#8a6a00", "#2b8fb8", "#5b5b5b", "#b5253a")
DATA_DARK = ("#5cb3ec", "#f29559", "#45c59c", "#e39bcb", "#d9b545", "#9ad9ee", "#b4b4b4", "#f58b95")
LIGHT = {
    "ink": "#1d1d1b",
    "muted": "#5c5a55",
    "grid": "#e6e3dc",
    "surface": "#fffefb",
    "limit": "#8c1c13",
    "no-data": "#efece5",
}
DARK = {
    "ink": "#e9e6df",
    "muted": "#a8a49b",
    "grid": "#34332f",
    "surface": "#171715",
    "limit": "#ff9d8f",
    "no-data": "#262522",
}


def _blend(first: str, second: str, share: float) -> str:
    a, b = (tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in (first, second))
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b, strict=True))


def _stops(stops: tuple[str, ...], share: float) -> str:
    position = share * (len(stops) - 1)
    index = min(int(position), len(stops) - 2)
    return _blend(stops[index], stops[index + 1], position - index)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio as WCAG 2 defines it, 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def palette(dark: bool) -> dict[str, str]:
    """Name without dashes -> colour, for one theme. The ramp runs away from the ground: more is stronger."""
    colours = dict(DARK if dark else LIGHT)
    colours |= {f"data-{i}": colour for i, colour in enumerate(DATA_DARK if dark else DATA_LIGHT)}
    stops = (
        ("#1d2a33", "#1c4f6e", "#2d86b0", "#7cc4dd", "#e2f3ee")
        if dark
        else ("#f1f5ee", "#c4e0dd", "#79b8cd", "#2f7fae", "#0c3c6e")
    )
    for i in range(RAMP_STEPS):
        colour = _stops(stops, i / (RAMP_STEPS - 1))
        colours[f"ramp-{i}"] = colour
        colours[f"ramp-ink-{i}"] = max(("#000000", "#ffffff"), key=lambda ink, c=colour: contrast(ink, c))
    return colours


def css_variables() -> str:
    """The palette of both themes as CSS: light by default, dark by preference or by data-theme on the
    root.
    """

    def block(dark: bool) -> str:
        return "".join(f"--{name}:{value};" for name, value in palette(dark).items())

    return (
        f":root{{color-scheme:light;{block(False)}}}\n"
        f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{block(True)}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{block(True)}}}\n"
        f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light])"
        f"{{color-scheme:light;{block(False)}}}}}\n"
    )


def apply() -> None:
    """Set Matplotlib and seaborn up; every drawing function relies on it."""
    sns.set_theme(
        style="ticks",
        rc={
            "svg.fonttype": "none",
            "svg.hashsalt": "weft",
            "path.simplify": False,
            "font.family": "DejaVu Sans",
            "font.size": 8.5,
            "axes.titlesize": 9,
            "axes.labelsize": 8.5,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
            "legend.fontsize": 8,
            "legend.frameon": False,
            "legend.handlelength": 1.6,
            "legend.columnspacing": 1.6,
            "axes.titlelocation": "left",
            "axes.titleweight": "normal",
            "axes.titlepad": 7,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "axes.edgecolor": MUTED,
            "grid.color": GRID,
            "grid.linewidth": 0.7,
            "axes.linewidth": 0.7,
            "xtick.major.width": 0.7,
            "ytick.major.width": 0.7,
            "xtick.major.size": 3,
            "ytick.major.size": 3,
            "xtick.minor.size": 0,
            "ytick.minor.size": 0,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "axes.axisbelow": True,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "lines.linewidth": 1.5,
            "lines.markersize": 3.6,
            "axes.prop_cycle": mpl.cycler(color=DATA),
            "figure.dpi": 72,
        },
    )


SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_SPACES = re.compile(r"\s+")
_FONT = re.compile(r"font(?:-family)?:[^;]*'DejaVu Sans'[^;]*;?")
_FONT_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")


def _short(match: re.Match[str]) -> str:
    return (
        f"{float(match.group()):.2f}".rstrip("0").rstrip(".").replace("-0.", "-.")
        if "e" not in match.group()
        else "0"
    )


def _themed(style: str) -> str:
    return _COLOUR.sub(
        lambda m: f"var(--{VARIABLES[m.group()]})" if m.group() in VARIABLES else m.group(), style
    )


def _font(style: str) -> str:
    """Keep the size and weight of a font shorthand and leave the family to the page."""
    match = _FONT.search(style)
    if not match:
        return style
    shorthand = match.group()
    size = _FONT_SIZE.search(shorthand)
    kept = (f"font-size:{size.group()};" if size else "") + ("font-weight:700;" if "700" in shorthand else "")
    return style.replace(shorthand, kept)


def svg(canvas: Canvas, key: str, description: str) -> str:
    """The figure as inline SVG: text as text, ids prefixed by key, colours as CSS variables, no metadata.

    description becomes its accessible name. The element carries its natural width; the page scales it down.
    """
    buffer = BytesIO()
    canvas.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    root = ET.fromstring(buffer.getvalue())
    for child in [c for c in root if c.tag.endswith("metadata")]:
        root.remove(child)
    text = ET.tostring(root, encoding="unicode")
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    for element in root.iter():
        element.text = (
            _SPACES.sub(" ", element.text)
            if element.tag.endswith("text") and element.text
            else (element.text if element.tag.endswith(("title", "style", "tspan")) else None)
        )
        element.tail = None
        identifier = element.attrib.pop("id", None)
        if identifier in used:
            element.set("id", f"{key}-{identifier}")
        for name, value in list(element.attrib.items()):
            changed = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", value)
            if name == f"{{{XLINK}}}href":
                del element.attrib[name]
                element.set("href", changed.replace("#", f"#{key}-", 1))
                continue
            if name == "d":
                changed = _SPACES.sub(" ", _NUMBER.sub(_short, changed)).strip()
                changed = re.sub(r" ?([MLCQZz]) ?", r"\1", changed)
            elif name in ("x", "y", "width", "height", "transform"):
                changed = _NUMBER.sub(_short, changed)
            elif name == "style":
                changed = _NUMBER.sub(_short, _font(_themed(changed))).replace("; ", ";").replace(": ", ":")
            elif name in ("fill", "stroke"):
                changed = _themed(changed)
            element.set(name, changed)
    _classes(root)
    width, height = (float(v) for v in root.get("viewBox", "0 0 1 1").split()[2:])
    for name in ("version", "width", "height"):
        root.attrib.pop(name, None)
    pixels = round(width * 96 / 72)
    root.set("width", str(pixels))
    root.set("height", str(round(height * 96 / 72)))
    root.set("viewBox", f"0 0 {width:g} {height:g}")
    root.set("style", f"min-width:{min(pixels, max(340, round(0.75 * pixels)))}px")
    root.set("role", "img")
    root.set("aria-label", description)
    return ET.tostring(root, encoding="unicode")


def _classes(root: ET.Element) -> None:
    """Replace repeated styles by classes named after their content: the same name means the same in every
    figure.
    """
    rules = {}
    for element in root.iter():
        declared = element.attrib.pop("style", None)
        if declared:
            name = "w" + hashlib.sha256(declared.encode()).hexdigest()[:6]
            rules[name] = declared
            element.set("class", name)
    for parent in root.iter():
        for place, child in enumerate(list(parent)):
            if (
                child.tag.endswith("}g") and not child.attrib and len(child) == 1
            ):  # groups that only held an id
                parent[place] = child[0]
    style = ET.Element(f"{{{SVG}}}style")
    style.text = "".join(f".{name}{{{declared}}}" for name, declared in sorted(rules.items()))
    root.insert(0, style)


def standalone(inline: str) -> str:
    """The same SVG as a file of its own: it brings the colours of both themes and a font along."""
    light, dark = (
        ";".join(f"--{n}:{c}" for n, c in palette(d).items() if f"--{n})" in inline) for d in (False, True)
    )
    rules = (
        f"svg{{{light};background:{LIGHT['surface']};font-family:system-ui,sans-serif}}"
        f"@media(prefers-color-scheme:dark){{svg{{{dark};background:{DARK['surface']}}}}}"
    )
    head, body = inline.split(">", 1)
    return f"{head}><style>{rules}</style>{body}"
