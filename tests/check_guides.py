#!/usr/bin/env python3
"""Runs every command of the guides. Usage: check_guides.py ROOT BIN [COMPILER]

The blocks of a page in docs/ that are fenced as `sh` are one shell session, which begins in a clone with a build of the
preset release, as the reader's does, but in a temporary folder. A block fenced as `sh freedoom` runs where that WAD is
installed, one as `sh build` where a COMPILER is given, as it compiles against the build. The port 7777 becomes one that
is free here. What cannot run in a test is fenced as `console`. The lines of a block fenced as `cpp FILE` stand in that
file, in their order; "..." stands for what is left out. Tests that the text names, like `tests_world '[rules]'`, are
run.
"""
import concurrent.futures
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

PAGE_SECONDS_MAX = 240  # of a page that hangs; usually they take a few
CONSOLE_BLOCKS_MAX = 6  # on all pages: each is a promise that nobody holds
LINES_MAX = 110  # with words on them, rows of tables aside, which nobody reads from top to bottom
LANGUAGES = {"sh", "console", "cpp", "cmake", "text", "toml"}
TEST = re.compile(r"`(tests_\w+\s+'[^'`]+')`")
# What a page starts it also ends, given a moment.
LAST_LINES = """
for _ in $(seq 50); do [ -n "$(jobs -rp)" ] || exit 0; sleep 0.1; done
echo "this is left running: $(jobs -r)"
exit 1
"""
NOTHING_TESTED = re.compile(r"^No test(s ran| cases matched)", re.MULTILINE)  # Catch2 2 takes that for success


def blocks_of(page: pathlib.Path):
    """(line, words of the fence, text) of each fenced block."""
    begin, words, text = 0, [], []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            text.append(line)
        elif begin:
            yield begin, words, text
            begin = 0
        else:
            begin, words, text = number, line[3:].split(), []
    if begin:
        sys.exit(f"{page}:{begin}: the block does not end")


def freedoom_installed() -> bool:
    folders = [os.environ.get("DOOMWADDIR", ""), "/usr/share/games/doom", "/usr/local/share/games/doom",
               "/usr/share/doom"]
    return any(folder and pathlib.Path(folder, "freedoom2.wad").is_file() for folder in folders)


def free_port() -> int:
    """For UDP and TCP; below the ports that the kernel gives out by itself, so that it stays free."""
    while True:
        port = random.randrange(20000, 32000)
        try:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                with socket.socket(socket.AF_INET, kind) as probe:
                    probe.bind(("", port))
            return port
        except OSError:
            continue


def stands_in(lines, file: pathlib.Path) -> str | None:
    """The first line that does not stand in the file behind those before it."""
    rest = iter([line.strip() for line in file.read_text(encoding="utf-8").splitlines()])
    for line in (line.strip() for line in lines):
        if line and line != "..." and line not in rest:
            return line
    return None


def make_clone(root: pathlib.Path, build: pathlib.Path, clone: pathlib.Path):
    """A clone with a build, of links: what commands write stays out of the sources."""
    (clone / "build").mkdir(parents=True)
    for entry in root.iterdir():
        if entry.name not in ("build", ".git"):
            (clone / entry.name).symlink_to(entry)
    (clone / "build" / "release").symlink_to(build)


def run_page(root: pathlib.Path, programs: pathlib.Path, compiler: str, page: pathlib.Path, script: str):
    """What went wrong, or None; and the seconds that it took."""
    with tempfile.TemporaryDirectory(prefix="guide-") as name:
        folder = pathlib.Path(name)
        make_clone(root, programs.parent, folder / "ashlar")
        port = str(free_port())
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ASHLAR_")}
        environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": name, "ASHLAR_PORT": port}
        if compiler:
            environment["CXX"] = compiler
        begin = time.monotonic()
        with open(folder / "output", "w+", encoding="utf-8", errors="replace") as output:
            shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script.replace("7777", port)],
                                     cwd=folder / "ashlar", env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            wrong = None if ends_in_time(shell) else f"did not end within {PAGE_SECONDS_MAX} s"
            os.killpg(shell.pid, signal.SIGKILL)  # what it left; not waited for yet, so the number is still its own
            status = shell.wait()
            wrong = wrong or (f"ended with {status}" if status else None)
            output.seek(0)
            said = output.read()
        if wrong is None and (nothing := NOTHING_TESTED.search(said)):
            wrong = f"names a test that is not there ({nothing.group(0)})"
        if wrong is not None:
            wrong = f"{page.relative_to(root)} {wrong}\n" + "\n".join("    " + line for line in said.splitlines()[-40:])
        return wrong, time.monotonic() - begin


def ends_in_time(shell: subprocess.Popen) -> bool:
    deadline = time.monotonic() + PAGE_SECONDS_MAX
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, shell.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return True
        time.sleep(0.02)
    return False


def main(root: pathlib.Path, programs: pathlib.Path, compiler: str) -> int:
    wrong, scripts, consoles, count = [], {}, 0, 0
    for page in sorted((root / "docs").glob("*.md")):
        where = page.relative_to(root)
        length = sum(1 for line in page.read_text(encoding="utf-8").splitlines() if line and not line.startswith("|"))
        if length > LINES_MAX:
            wrong.append(f"{where} has {length} lines; {LINES_MAX} are enough for a guide")
        script = []
        for line, words, text in blocks_of(page):
            if not words or words[0] not in LANGUAGES:
                wrong.append(f"{where}:{line}: fenced as {' '.join(words) or 'nothing'}; there are {sorted(LANGUAGES)}")
            elif words[0] == "console":
                consoles += 1
            elif words[0] == "cpp" and (missing := stands_in(text, root / words[1])):
                wrong.append(f"{where}:{line}: {words[1]} has no such line there: {missing}")
            elif words[0] == "sh":
                if ("freedoom" in words and not freedoom_installed()) or ("build" in words and not compiler):
                    print(f"left out here: {where}:{line} ({' '.join(words)})")
                    continue
                script += [f"echo '==> {where}:{line}'", *text]
                count += 1
        tests = sorted({" ".join(test.split()) for test in TEST.findall(page.read_text(encoding="utf-8"))})
        count += len(tests)
        script += [line for test in tests for line in (f'echo "==> {where}: {test}"', test)]
        if script:
            scripts[page] = "\n".join(script) + LAST_LINES
    if consoles > CONSOLE_BLOCKS_MAX:
        wrong.append(f"{consoles} blocks are fenced as console, which nothing runs; {CONSOLE_BLOCKS_MAX} are enough")

    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = {page: pool.submit(run_page, root, programs, compiler, page, script) for page, script in scripts.items()}
    for page, run in runs.items():
        failure, seconds = run.result()
        print(f"{page.relative_to(root)}: {seconds:.1f} s")
        if failure:
            wrong.append(failure)
    print("\n".join(wrong) if wrong else f"{count} blocks and tests on {len(scripts)} pages do what they say")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), (sys.argv[3:] or [""])[0]))
