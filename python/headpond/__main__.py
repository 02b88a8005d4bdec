# SPDX-License-Identifier: Apache-2.0
"""`python -m headpond VERB ...` and the command `headpond`: the program that lies beside this module."""

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = pathlib.Path(__file__).parent / "bin" / "headpond"
    if not program.exists():
        sys.exit(f"headpond: {program} is missing: the package was built without its program")
    os.environ.setdefault("HEADPOND_PYTHON", sys.executable)  # Of `bench python.*`.
    os.execv(program, ["headpond", *sys.argv[1:]])


if __name__ == "__main__":
    main()
