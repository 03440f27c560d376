"""Turns a plot into an SVG element that a page under a strict policy can hold: no style, no script, its own ids."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

from bestofn.report.plots import COLOURS, INK, Plot, drawing

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_STYLE = re.compile(r"\s*([a-z-]+)\s*:\s*([^;]+)")
_FONT = re.compile(r"(?:[a-z]+ )?([\d.]+)px\b.*")
_REFERENCE = re.compile(r"#([\w.-]+)")


def svg(plot: Plot) -> str:
    """The figure as an SVG element for the page: no style, no script, colours as classes, ids of its own."""
    buffer = io.BytesIO()
    with drawing(plot.name):
        plot.figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    root = ElementTree.fromstring(buffer.getvalue())
    _tidy(root, plot.name)
    root.set("role", "img")
    root.set("aria-labelledby", f"plot-{plot.name}")
    root.set("class", "plot")
    width, height = (float(value) for value in root.get("viewBox", "0 0 1 1").split()[2:])
    root.set("width", f"{width * 4 / 3:.0f}")
    root.set("height", f"{height * 4 / 3:.0f}")
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    return ElementTree.tostring(root, encoding="unicode")


def _tidy(root: ElementTree.Element, name: str) -> None:
    """Styles to attributes, colours to classes, ids prefixed where something refers to them and dropped elsewhere."""
    wanted = set(_REFERENCE.findall(" ".join(" ".join(e.attrib.values()) for e in root.iter())))
    for parent in list(root.iter()):
        for child in list(parent):
            # The one style sheet says how lines join, which the page says itself; metadata says who drew it.
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        classes = []
        style = dict(_STYLE.findall(element.attrib.pop("style", "")))
        if "font" in style:
            size = _FONT.fullmatch(style.pop("font"))
            style["font-size"] = f"{size[1] if size else 10}"
        for key in ("font-family", "line-height"):
            style.pop(key, None)
        for key, value in style.items():
            element.set(key, value.strip())
        if element.tag.endswith("text") and "fill" not in element.attrib:
            element.set("fill", INK)
        for key in ("fill", "stroke"):
            colour = COLOURS.get(element.get(key, "").lower())
            if colour:
                classes.append(f"{key}-{colour}")
        if classes:
            element.set("class", " ".join(classes))
        if "id" in element.attrib:
            own = element.attrib.pop("id")
            if own in wanted:
                element.set("id", f"{name}-{own}")
        for key, value in list(element.attrib.items()):
            if "url(#" in value or key.endswith("href"):
                element.set(key, _REFERENCE.sub(rf"#{name}-\1", value))
