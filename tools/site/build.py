#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site: pages of docs/ and the reference of the Python package, as static HTML. ./dev site runs it.

  build.py FOLDER    writes FOLDER/html; fails at a warning, or a link to what is not there
"""
import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import api

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOP = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
# The order in which a reader meets the pages of docs/; what is not named here is an error of Sphinx: it is in no table of contents.
CHAPTERS = {
    "First": ["README", "docs/concepts", "docs/demo"],
    "Python": ["docs/python", "docs/migrate_from_dataloader", "docs/migrate_from_tf_data", "docs/migrate_from_tf1_queues", "docs/migrate_from_jax", "api/index"],
    "Guide": ["docs/guide/*", "docs/images", "docs/augmentations", "docs/sound", "docs/spectra", "docs/caching", "docs/bad_samples",
              "docs/monitoring", "docs/changing_a_plan", "docs/what_happens_if"],
    "From elsewhere in C++": ["docs/from_torchvision", "docs/from_tf_data"],
    "Commands": ["docs/plan_files", "docs/converting", "docs/checking_files", "docs/viewing"],
    "Inside": ["ARCHITECTURE", "docs/where_is", "CONTRIBUTING", "docs/how_to_add", "docs/add_an_operator", "docs/formats/index", "docs/decisions/index", "CHANGELOG"],
}


def contents(pages, caption="", options=":maxdepth: 1\n"):
    caption = f":caption: {caption}\n" if caption else ""
    return f"```{{toctree}}\n{options}{caption}\n" + "\n".join(pages) + "\n```\n\n"


def write_index(folder, title, *parts):
    folder.mkdir(exist_ok=True)
    (folder / "index").with_suffix(".md").write_text(f"# {title}\n\n" + "".join(parts))


def write_sources(folder):
    """What Sphinx reads: copies of the pages, and pages that are made."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    for name in ("examples", "headpond", "tests"):  # Pages link to files in them.
        (folder / name).symlink_to(ROOT / name)
    for name in TOP:
        shutil.copy(ROOT / name, folder)
    write_index(folder / "docs/formats", "Formats", contents(["*"], options=":maxdepth: 1\n:glob:\n"))
    write_index(folder / "docs/decisions", "Decisions", contents(["*"], options=":maxdepth: 1\n:glob:\n"))
    made = api.pages()
    write_index(folder / "api", "Reference of the Python package", "From the types and texts of `import headpond as hp`.\n\n", contents(made))
    for name, (text, _) in made.items():
        (folder / "api" / f"{name}.md").write_text(text)
    write_index(folder, "Headpond", "The input pipeline that keeps the training step fed. [README](README.md) says what it is; [python.md](docs/python.md) is "
                "the manual of the Python package.\n\n",
                *(contents(pages, caption, ":maxdepth: 1\n:glob:\n") for caption, pages in CHAPTERS.items()))


def make(source, into):
    """Sphinx's exit code and what it said."""
    shutil.copy(HERE / "conf.py", source)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-d", into / "doctrees", source, into / "html"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


class Page(html.parser.HTMLParser):
    """The links of a page, and the places in it that links lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.places.add(known.get("id") or "")
        link = known.get("href") or known.get("src")
        if link is not None:
            self.links.append(link)


def broken_links(site):
    """Links to files and places that the site does not have; those to other hosts are not looked at."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            if not target.is_file() or (known is not None and urllib.parse.unquote(parts.fragment) not in known.places):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


def build(into):
    into.mkdir(parents=True, exist_ok=True)
    for name in ("html", "doctrees"):
        shutil.rmtree(into / name, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "pages"
        source.mkdir()
        write_sources(source)
        code, said = make(source, into)
    broken = broken_links(into / "html") if code == 0 else []
    print(said + "".join(f"broken link: {one}\n" for one in broken), end="")
    if code == 0 and not broken:
        print(f"site: {len(list((into / 'html').rglob('*.html')))} pages, {into / 'html/index.html'}")
    return 1 if code != 0 or broken else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(build(pathlib.Path(sys.argv[1])))
