"""A page as a browser sees it, and what every report must satisfy."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise


class Reader(HTMLParser):
    """The elements of a page, its scripts and style sheets, its words, and the shapes and texts of each plot."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.styles, self.words = [], [], [], []
        self.plots = {}
        """For each figure the shapes of its plot: tag, attributes, and the texts in them."""
        self._within = self._plot = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if tag in ("script", "style"):
            self._within = self.scripts if tag == "script" else self.styles
            self._within.append("")
        elif attrs.get("class") == "plot":
            self._plot = self.plots[attrs["id"].removeprefix("plot-")] = []
        elif self._plot is not None and tag != "title":
            self._plot.append((tag, attrs, []))

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._within = None
        elif tag == "div":
            self._plot = None

    def handle_data(self, data):
        if self._within is not None:
            self._within[-1] += data
        elif self._plot is None:
            self.words.append(data)
        else:
            self._plot[-1][2].append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def shapes(self, key, tag, kind=""):
        """The shapes of a plot with this tag and class: their attributes and their texts."""
        return [
            (attrs, " ".join(texts))
            for name, attrs, texts in self.plots[key]
            if name == tag and (not kind or kind in attrs.get("class", "").split())
        ]


def check_page(seen):
    """Every figure is whole, headings and links are sound, and nothing comes from elsewhere or runs without permission."""
    for key, shapes in seen.plots.items():
        tag, attrs, _ = shapes[0]
        assert (tag, attrs["role"]) == ("svg", "img")
        assert len(attrs["aria-label"]) > 20, key
        assert len(shapes) > 1, key
    figures = [attrs["id"] for attrs in seen.of("figure")]
    assert figures == list(seen.plots)
    assert len(seen.of("figcaption")) == len(figures)
    listed = [attrs for attrs in seen.of("details") if attrs["class"] == "numbers"]
    assert len(listed) >= len([key for key in figures if not key.startswith("gauge")])
    ids = [attrs["id"] for _, attrs in seen.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert all(attrs["href"].startswith("#") and attrs["href"][1:] in ids for attrs in seen.of("a"))
    levels = [int(tag[1]) for tag, _ in seen.tags if re.fullmatch(r"h\d", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for tag, attrs in seen.tags:
        assert not {"src", "srcset", "action", "data", "style", "onclick", "onerror", "onload"} & attrs.keys(), tag
        assert tag not in ("link", "img", "image", "iframe", "use", "foreignobject")
    (policy,) = [attrs["content"] for attrs in seen.of("meta") if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    hashes = {kind: re.findall(rf"{kind}-src 'sha256-([^']+)'", policy) for kind in ("script", "style")}
    assert hashes == {"script": [_hash(text) for text in seen.scripts], "style": [_hash(text) for text in seen.styles]}


def _hash(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
