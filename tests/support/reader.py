"""A page as a browser would see it."""

from __future__ import annotations

from html.parser import HTMLParser


class Reader(HTMLParser):
    """What a browser would see: elements, scripts, and the words on the page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.words, self.within = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.within = tag
            if tag == "script":
                self.scripts.append("")

    def handle_endtag(self, tag):
        if tag == self.within:
            self.within = None

    def handle_data(self, data):
        if self.within == "script":
            self.scripts[-1] += data
        elif self.within is None:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]
