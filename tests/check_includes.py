#!/usr/bin/env python3
"""Fails on an include that points the wrong way, and on world code that includes more than it may.

world <- protocol <- server | client_sim; only client_sim/simulation may see the server (SIMULATION_SEES), and
only world/content may use parsers. Usage: check_includes.py ROOT
"""
import pathlib
import re
import sys

ALLOWED = {
    "world": {"world"},
    "protocol": {"protocol", "world"},
    "server": {"server", "protocol", "world"},
    "client_sim": {"client_sim", "protocol", "world"},
}
# The server itself, and what a server is set up with.
SIMULATION_SEES = {"server/host.h", "server/config/config.h", "server/config/settings.h", "server/props.h",
                   "server/welcome_content.h", "server/snapshot_order.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# In world only the standard library's headers, which have no dot and no slash, are allowed in <>;
# a few C headers for bytes and numbers aside, libm's <cmath> is narrowed by review to sqrt/floor/fabs/fmod.
WORLD_LIBRARIES = {"zlib.h", "tiny_obj_loader.h"}


def main(root: pathlib.Path) -> int:
    wrong = []
    count = 0
    for part, allowed in ALLOWED.items():
        for path in sorted((root / part).rglob("*")):
            if path.suffix not in {".h", ".cpp"}:
                continue
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                count += 1
                quoted, target = match.group(1) == '"', match.group(2)
                top = target.split("/")[0]
                if quoted or top in ALLOWED:
                    simulation = name.startswith("client_sim/simulation/") and target in SIMULATION_SEES
                    if top not in allowed and not simulation:
                        wrong.append(f"{name}:{number}: {part} may not include {target}")
                    if "/" not in target:
                        wrong.append(f"{name}:{number}: spell {target} from the root")
                elif part == "world" and ("." in target or "/" in target):
                    content = name.startswith("world/content/") and target in WORLD_LIBRARIES
                    if not content:
                        wrong.append(f"{name}:{number}: world may not include <{target}>")
                elif part == "protocol" and not target.startswith("flatbuffers/") and (
                        "." in target or "/" in target):
                    wrong.append(f"{name}:{number}: protocol may not include <{target}>")
    print("\n".join(wrong) if wrong else f"{count} includes point the right way")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
