#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CSV files by Python's csv, for headpond/io/text/csv_oracle_test.cc.

csvs.py dump FILE LIST  what csv.reader finds in FILE
csvs.py write FOLDER    0.csv, 1.csv, ... of random cells by csv.writer, each with a list beside it (0.list)
A list has a line a row: its cells in hex, each followed by a comma.
"""
import csv
import random
import sys

TEXT = {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}
DIALECTS = [{}, {"delimiter": ";"}, {"delimiter": "\t", "quotechar": "'"}, {"quoting": csv.QUOTE_ALL},
            {"lineterminator": "\n"}, {"lineterminator": "\r"}]


def listing(rows):
    return "".join("".join(cell.encode("utf-8", "surrogateescape").hex() + "," for cell in row) + "\n" for row in rows if row)


def dump(path, to, **dialect):
    with open(path, **TEXT) as file:
        rows = list(csv.reader(file, **dialect))
    with open(to, "w", encoding="ascii") as file:
        file.write(listing(rows))


def write(folder):
    rng = random.Random(1)
    pieces = ["", "a", "12", " ", ",", ";", "\t", '"', "'", '""', "\n", "\r", "\r\n", "\u00e9", "\udcff", "#"]
    for number, dialect in enumerate(DIALECTS * 10):
        columns = rng.randrange(1, 6)
        end = dialect.get("lineterminator")  # The writer quotes no other line's end than its own.
        used = [piece for piece in pieces if end is None or piece == end or piece not in ("\r", "\n", "\r\n")]
        with open(f"{folder}/{number}.csv", "w", **TEXT) as file:
            writer = csv.writer(file, **dialect)
            for _ in range(rng.randrange(1, 40)):
                writer.writerow("".join(rng.choices(used, k=rng.randrange(5))) for _ in range(columns))
        dump(f"{folder}/{number}.csv", f"{folder}/{number}.list", **{key: value for key, value in dialect.items() if key != "lineterminator"})


if __name__ == "__main__":
    {"dump": dump, "write": write}[sys.argv[1]](*sys.argv[2:])
