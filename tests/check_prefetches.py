#!/usr/bin/env python3
"""check_prefetches.py PROGRAM LEAST [PROGRAM LEAST ...]

That what asks for memory ahead (world/math/prefetch.h) is there in a built program. To GCC a function that does nothing
else has no effect, and it left out the calls of it once: nothing was wrong but that all became a tenth slower, which no
other test can see. Counts the instructions, of x86-64 and of ARM. LEAST is what must be left of a program's; there were 8
in the server when it was wrong.
"""

import platform
import re
import shutil
import subprocess
import sys

ASKS = {"x86_64": re.compile(r"\tprefetch(t[0-2]|nta|w)\b"), "aarch64": re.compile(r"\tprfu?m\b")}


def count(program: str, asks: re.Pattern) -> int:
    lines = subprocess.run(
        ["objdump", "--disassemble", "--no-show-raw-insn", program], capture_output=True, text=True, check=True
    ).stdout
    return sum(1 for _ in asks.finditer(lines))


def main() -> int:
    given = sys.argv[1:]
    if not given or len(given) % 2 != 0:
        print(__doc__)
        return 2
    asks = ASKS.get(platform.machine())
    if asks is None or shutil.which("objdump") is None:
        print("not looked: no objdump here, or a processor whose instructions this does not know")
        return 0
    wrong = 0
    for program, least in zip(given[::2], given[1::2]):
        found = count(program, asks)
        good = found >= int(least)
        print(f"{'ok' if good else 'WRONG'}: {program} asks for memory ahead at {found} places, {least} are the least")
        wrong += not good
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
