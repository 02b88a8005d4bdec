# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings. build.py copies this file beside the pages."""
import pathlib
import re

project = "Headpond"
html_title = "Headpond"
extensions = ["myst_parser"]
exclude_patterns = ["examples", "headpond", "tests"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # A fragment of a program need not parse.
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "body_max_width": "none", "show_powered_by": False}
html_show_copyright = False
html_copy_source = False
smartquotes = False
python_maximum_signature_line_length = 100
add_module_names = False


def link_of(pages, folder, text, target):
    """A link to a folder becomes one to its index. One to a folder without, or to a page that the site does not have, becomes its text."""
    place = folder / target
    if place.is_dir():
        index = (place / "index").with_suffix(".md")
        return f"[{text}]({target.rstrip('/')}/{index.name})" if index.exists() else text
    elsewhere = place.suffix == ".md" and place.exists() and pages.resolve() not in place.resolve().parents
    return text if elsewhere else f"[{text}]({target})"


def without_links_elsewhere(app, name, source):
    folder = pathlib.Path(app.env.doc2path(name)).parent
    source[0] = re.sub(r"\[([^\[\]]+)\]\(([^()#\s]+)\)", lambda match: link_of(pathlib.Path(app.srcdir), folder, match[1], match[2]), source[0])


def setup(app):
    app.connect("source-read", without_links_elsewhere)
