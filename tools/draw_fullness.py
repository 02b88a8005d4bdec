#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws how full the queues of a run were, from its TensorBoard event file, as an SVG.

  draw_fullness.py FILE|FOLDER [--out FILE.svg] [--tag PATTERN]
Of a folder, the newest event file below it. PATTERN chooses tags; by default every fraction_..._full of a queue. Without
--out the SVG goes to stdout. Exit 1 iff the file is damaged, or has no such tag.
"""
import argparse
import fnmatch
import html
import pathlib
import sys

import check_events

WIDTH, LEFT, RIGHT, PLOT = 720, 64, 16, 220
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]  # Told apart by the colour-blind too.
INK, GRID = "#222222", "#dddddd"


def curves(data, pattern):
    """{tag: [(seconds since the file began, value)]}, by tag."""
    found, start = {}, None
    for _, payload in check_events.records(data, allow_cut=True):
        event = check_events.parse_event(payload)
        start = event["wall_time"] if start is None else start
        for tag, value in event["scalars"]:
            if fnmatch.fnmatchcase(tag, pattern):
                found.setdefault(tag, []).append((event["wall_time"] - start, value))
    return dict(sorted(found.items()))


def tick_step(length):
    """1, 2 or 5 times a power of ten, of which 4 to 10 make up the length."""
    power = 1.0
    while power > length / 4:
        power /= 10
    while power * 10 <= length / 4:
        power *= 10
    return max(factor * power for factor in (1, 2, 5) if factor * power <= length / 4)


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'


def axes(top, bottom, seconds, across):
    """Grid, ticks and labels: seconds to the right, per cent upwards."""
    parts, right = [], WIDTH - RIGHT
    for percent in range(0, 101, 25):
        y = bottom - PLOT * percent / 100
        parts += [f'<path d="M{LEFT} {y:.1f}H{right}" stroke="{GRID}"/>', text(LEFT - 8, y + 4, f"{percent}", "end")]
    step = tick_step(seconds)
    for number in range(int(seconds / step + 1e-9) + 1):
        x = across(number * step)
        parts += [f'<path d="M{x:.1f} {bottom}v5" stroke="{INK}"/>', text(x, bottom + 19, f"{number * step:g}")]
    middle = (top + bottom) / 2
    parts += [f'<path d="M{LEFT} {top}V{bottom}H{right}" fill="none" stroke="{INK}"/>',
              text((LEFT + right) / 2, bottom + 38, "time since the file began (s)"),
              text(18, middle, "fullness (%)", more=f' transform="rotate(-90 18 {middle:.1f})"')]
    return parts


def drawn(found):
    """The SVG. A plain white ground, so that it reads the same on light and dark pages."""
    top = 16 + 20 * len(found)
    bottom = top + PLOT
    seconds = max(at for points in found.values() for at, _ in points) or 1.0

    def across(at):
        return LEFT + (WIDTH - RIGHT - LEFT) * at / seconds

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 50}" width="{WIDTH}" height="{bottom + 50}"'
             ' role="img" font-family="sans-serif" font-size="12">',
             f"<title>How full queues were: {html.escape(', '.join(found))}</title>",
             f'<rect width="100%" height="100%" fill="#ffffff"/><g fill="{INK}">', *axes(top, bottom, seconds, across)]
    for number, (tag, points) in enumerate(found.items()):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join(f"{across(at):.1f},{bottom - PLOT * min(max(value, 0), 1):.1f}" for at, value in points)
        parts += [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
                  f'<path d="M{LEFT} {18 + 20 * number}h24" stroke="{colour}" stroke-width="3"/>',
                  text(LEFT + 32, 22 + 20 * number, tag, "start")]
    return "\n".join([*parts, "</g></svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--tag", default="*/fraction_*_full")
    options = parser.parse_args()
    files = sorted(check_events.event_files([options.path]), key=lambda path: path.stat().st_mtime)
    if not files:
        sys.exit(f"no event file in {options.path}")
    try:
        found = curves(files[-1].read_bytes(), options.tag)
    except check_events.Broken as error:
        sys.exit(f"{files[-1]}: {error}")
    if not found:
        sys.exit(f"{files[-1]}: no tag {options.tag}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(drawn(found), encoding="utf-8")
    else:
        sys.stdout.write(drawn(found))


if __name__ == "__main__":
    main()
