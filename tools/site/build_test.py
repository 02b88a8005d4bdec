#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in pages, each of which must be found. Needs Sphinx, so ./dev site runs it."""
import pathlib
import tempfile
import unittest

import api
import build

RIGHT = "# A\n\n[b](b.md#part)\n"


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def made(self, page):
        source = self.folder / "pages"
        source.mkdir()
        (source / "a.md").write_text(page)
        (source / "b.md").write_text("# B\n\n## Part\n")
        build.write_index(source, "Index", build.contents(["a", "b"]))
        return build.make(source, self.folder)

    def test_right_pages_are_made_without_a_word(self):
        self.assertEqual(self.made(RIGHT), (0, ""))
        self.assertEqual(build.broken_links(self.folder / "html"), [])

    def test_a_page_that_is_not_there(self):
        code, said = self.made("# A\n\n[c](c.md)\n")
        self.assertNotEqual(code, 0)
        self.assertIn("c.md", said)

    def test_a_place_that_is_not_there(self):
        code, said = self.made("# A\n\n[b](b.md#other)\n")
        self.assertNotEqual(code, 0)
        self.assertIn("other", said)

    def test_a_directive_that_is_not_there(self):
        code, said = self.made("# A\n\n```{nothing}\n```\n")
        self.assertNotEqual(code, 0)
        self.assertIn("nothing", said)

    def test_links_of_the_pages_that_were_made(self):
        self.assertEqual(self.made(RIGHT)[0], 0)
        site = self.folder / "html"
        page = (site / "b.html").read_text()
        (site / "b.html").write_text(page.replace('id="part"', ""))
        self.assertIn("a.html: b.html#part", build.broken_links(site))
        (site / "b.html").unlink()
        self.assertIn("a.html: b.html#part", build.broken_links(site))


class Reference(unittest.TestCase):
    def test_each_name_stands_on_one_page(self):
        shown = [name for _, names in api.pages().values() for name in names]
        self.assertEqual(len(shown), len(set(shown)))
        self.assertLessEqual(set(api.Package().names) - {"tf1", "trace"}, set(shown))

    def test_signatures_are_those_of_the_sources(self):
        text = api.pages()["loader"][0]
        self.assertIn("{py:class} Loader(dataset: Dataset, *, epochs: int | None=1, seed: int=0", text)
        self.assertIn("{py:method} tuples(*fields: str) -> Iterator[tuple[Any, ...]]", text)
        self.assertIn("{py:property} epoch\n:type: int", text)
        self.assertIn("{py:method} batch(batch_size: int | None=None", api.pages()["datasets"][0])

    def test_pages_of_docs_are_links(self):
        self.assertIn("([monitoring.md](../docs/monitoring.md) says what each means)", api.pages()["loader"][0])

    def test_a_module_without_a_page_is_an_error(self):
        named, was = "loader", api.PAGES["loader"]
        self.addCleanup(api.PAGES.__setitem__, named, was)
        api.PAGES[named] = (was[0], [], was[2])
        with self.assertRaisesRegex(KeyError, "_loader|_stats"):
            api.pages()


if __name__ == "__main__":
    unittest.main()
