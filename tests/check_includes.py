#!/usr/bin/env python3
"""Fails on an include that points the wrong way, between the rooms or between the folders of one, and on code that
includes more of others than it may. With a second argument it draws what it saw.
Usage: check_includes.py ROOT [GRAPH.svg]

world <- protocol <- server | client_sim; only client_sim/simulation may see the server (SIMULATION_SEES),
and the program how the other one begins (PROGRAM_SEES). The folders of a room form a stair (STAIRS): each may include
those on lower steps, and none beside it.
"""
import collections
import html
import pathlib
import re
import sys

ROOMS = {
    "world": {"world"},
    "protocol": {"protocol", "world"},
    "server": {"server", "protocol", "world"},
    "client_sim": {"client_sim", "protocol", "world"},
}
# From the lowest step up; "." is the room's own folder.
STAIRS = {
    "world": [["math"], ["voxel", "bsp", "mesh"], ["collide"], ["nav"], ["sim"], ["content"]],
    "protocol": [["schema"], ["."], ["snapshot"], ["secure"], ["content"], ["connection"]],
    "server": [["net"], ["config"], ["bans"], ["log"], ["host"], ["store"], ["admin"], ["keys"], ["tools"], ["."]],
    "client_sim": [["client"], ["net"], ["c"], ["explore"], ["brains"], ["harness"], ["load", "simulation"], ["."]],
}
# content/ turns bytes into values for set-up and tests: nothing else in world includes it.
# The server itself, and what a server is set up with.
SIMULATION_SEES = {"server/host/host.h", "server/host/overload.h", "server/host/fight_desk.h", "server/host/content_shelf.h", "server/host/defects.h", "server/config/config.h", "server/config/settings.h", "server/props.h",
                   "server/host/welcome_content.h", "server/host/secret_key.h",
                   # What outlives its servers, on a disk that fails as it is told to.
                   "server/store/memory_disk.h", "server/store/saver.h", "server/store/sqlite_store.h",
                   "server/store/stored_ground.h",
                   # And what tells a recorded match once more.
                   "server/host/packed_snapshot.h", "server/host/replicator.h", "server/host/cue_board.h"}
# What both programs begin with.
PROGRAM_SEES = {"server/config/process.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# In world only the standard library's headers, which have no dot and no slash, are allowed in <>;
# libm's <cmath> is narrowed by review to sqrt/floor/fabs/fmod.
CONTENT_LIBRARIES = {"tiny_obj_loader.h", "toml++/toml.h"}
# Ciphers: in sources alone, so that no public header needs the library.
SECURE_LIBRARIES = {"sodium.h"}
# And compression.
COMPRESSION_LIBRARIES = {"zstd.h"}


def folder_of(name: str) -> str:
    """The folder of a room that a file lies in, "." for the room itself."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else "."


def step_of(room: str, folder: str):
    return next((step for step, folders in enumerate(STAIRS[room]) if folder in folders), None)


def wrong_folder(room: str, name: str, target: str):
    """Why an include within a room is wrong, or None."""
    here, there = folder_of(name), folder_of(target)
    for folder in (here, there):
        if "examples" in (here, there):
            return None
        if step_of(room, folder) is None:
            return f"{room}/{folder} has no step on its room's stair: give it one in tests/check_includes.py"
    if here != there and step_of(room, there) >= step_of(room, here):
        return f"{room}/{here} may not include {target}: {there} is not on a lower step"
    return None


def wrong_library(room: str, name: str, target: str) -> bool:
    plain = "." not in target and "/" not in target
    if room == "world":
        return not plain and not (name.startswith("world/content/") and target in CONTENT_LIBRARIES)
    if name.startswith("protocol/secure/") and name.endswith(".cpp") and target in SECURE_LIBRARIES:
        return False
    if name.startswith("protocol/") and name.endswith(".cpp") and target in COMPRESSION_LIBRARIES:
        return False
    return room == "protocol" and not plain and not target.startswith("flatbuffers/")


def look_at(root: pathlib.Path):
    """All wrong includes, and how often a folder includes another."""
    wrong, arrows = [], collections.Counter()
    for room, allowed in ROOMS.items():
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in {".h", ".cpp"}:
                continue
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quoted, target = match.group(1) == '"', match.group(2)
                top = target.split("/")[0]
                where = f"{name}:{number}"
                if not quoted and top not in ROOMS:
                    if wrong_library(room, name, target):
                        wrong.append(f"{where}: {room} may not include <{target}>")
                    continue
                arrows[f"{room}/{folder_of(name)}", f"{top}/{folder_of(target)}"] += 1
                simulation = (name.startswith("client_sim/simulation/") and target in SIMULATION_SEES
                              or name == "client_sim/main.cpp" and target in PROGRAM_SEES)
                if "/" not in target:
                    wrong.append(f"{where}: spell {target} from the root")
                elif top not in allowed and not simulation:
                    wrong.append(f"{where}: {room} may not include {target}")
                elif top == room and (why := wrong_folder(room, name, target)):
                    wrong.append(f"{where}: {why}")
    return wrong, arrows


def draw(arrows, out: pathlib.Path):
    """Rooms side by side, their folders as steps from the bottom up; arrows point at what is included."""
    box_w, box_h, gap_x, gap_y, margin = 108, 30, 14, 46, 30
    places, x = {}, margin
    height = max(len(steps) for steps in STAIRS.values()) * (box_h + gap_y) + 2 * margin
    shapes = []
    for room, steps in STAIRS.items():
        widest = max(len(folders) for folders in steps)
        room_w = widest * (box_w + gap_x) + gap_x
        shapes.append(f'<rect x="{x}" y="10" width="{room_w}" height="{height - 20}" rx="8" fill="#f4f1ea"/>'
                      f'<text x="{x + 10}" y="30" font-weight="bold">{room}</text>')
        for step, folders in enumerate(steps):
            y = height - margin - (step + 1) * (box_h + gap_y) + gap_y
            left = x + (room_w - len(folders) * (box_w + gap_x) + gap_x) / 2
            for i, folder in enumerate(folders):
                places[f"{room}/{folder}"] = (left + i * (box_w + gap_x), y)
        x += room_w + 50
    lines = []
    for (a, b), count in sorted(arrows.items()):
        if a == b or a not in places or b not in places:
            continue
        (ax, ay), (bx, by) = places[a], places[b]
        within = a.split("/")[0] == b.split("/")[0]
        start = (ax + box_w / 2, ay + box_h) if within else (ax, ay + box_h / 2)
        end = (bx + box_w / 2, by) if within else (bx + box_w, by + box_h / 2)
        lines.append(f'<line x1="{start[0]:.0f}" y1="{start[1]:.0f}" x2="{end[0]:.0f}" y2="{end[1]:.0f}" '
                     f'stroke="{"#456" if within else "#b84"}" stroke-opacity="{0.8 if within else 0.35}" '
                     f'stroke-width="{1 + min(count, 40) / 16:.1f}" marker-end="url(#head)">'
                     f'<title>{html.escape(a)} includes {html.escape(b)}: {count}</title></line>')
    boxes = [f'<rect x="{px:.0f}" y="{py:.0f}" width="{box_w}" height="{box_h}" rx="5" fill="#fff" stroke="#456"/>'
             f'<text x="{px + box_w / 2:.0f}" y="{py + 20:.0f}" text-anchor="middle">{name.split("/")[1]}</text>'
             for name, (px, py) in places.items()]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="{height}" '
                   'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="#fff"/>'
                   '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                   'orient="auto"><path d="M0 0 8 4 0 8z" fill="#456"/></marker></defs>'
                   + "".join(shapes) + "".join(lines) + "".join(boxes) + "</svg>\n", encoding="utf-8")


def main(root: pathlib.Path, graph: str | None = None) -> int:
    wrong, arrows = look_at(root)
    if graph:
        draw(arrows, pathlib.Path(graph))
    count = sum(arrows.values())
    print("\n".join(wrong) if wrong else f"{count} includes point the right way")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), *sys.argv[2:3]))
