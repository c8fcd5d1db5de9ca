#!/usr/bin/env python3
"""Fails when a page names a file that is not there. Usage: check_pages.py ROOT

A name with a folder is looked up from the root, then from the page's own folder; one without may lie anywhere below
the page's folder (for pages at the root: anywhere).
"""
import pathlib
import re
import sys

FILE = re.compile(r"`([\w./-]+\.(?:h|cpp|py|sh|fbs|md|txt|toml|ashrec))(?:[ :`])")
LINK = re.compile(r"\]\(([^)#:]+)\)")
# Files that users make or that stand for any name.
FOREIGN = {"world.toml", "server.toml", "bans.toml", "ready", "crate.obj"}


def names_of(page: pathlib.Path):
    text = page.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        for match in FILE.finditer(line):
            yield number, match.group(1), False
        for match in LINK.finditer(line):
            yield number, match.group(1), True


def exists(root: pathlib.Path, page: pathlib.Path, name: str, link: bool) -> bool:
    if (page.parent / name).exists():
        return True
    if link:
        return False
    if (root / name).exists() or pathlib.PurePosixPath(name).name in FOREIGN:
        return True
    below = root if page.parent == root else page.parent
    return any(path.as_posix().endswith("/" + name) for path in below.rglob(pathlib.PurePosixPath(name).name)
               if not {"build", "node_modules"} & set(path.relative_to(root).parts))


def main(root: pathlib.Path) -> int:
    pages = [p for p in sorted(root.rglob("*.md")) if not {"build", ".git", "node_modules"} & set(p.relative_to(root).parts)]
    wrong, count = [], 0
    for page in pages:
        for number, name, link in names_of(page):
            count += 1
            if "*" not in name and not exists(root, page, name, link):
                wrong.append(f"{page.relative_to(root)}:{number}: there is no {name}")
    print("\n".join(wrong) if wrong else f"{count} names on {len(pages)} pages lead somewhere")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
