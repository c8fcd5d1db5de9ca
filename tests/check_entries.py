#!/usr/bin/env python3
"""Holds the ctest entries that are sources to the cases that are to be played: each is in one of them, and no other.
Usage: check_entries.py PROGRAM ALL ENTRIES (selections of Catch2; those of all entries with commas between them)
"""
import subprocess
import sys


def names(program, *selection):
    """Of the cases selected, by Catch2 of version 2 or 3."""
    for listing in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        done = subprocess.run([program, *selection, *listing], capture_output=True, text=True)
        if "Unrecognised token" not in done.stdout + done.stderr:
            return {line.strip() for line in done.stdout.splitlines() if line.strip()}
    sys.exit(f"{program} lists no tests: {done.stderr}")


def main(program, everything, entries):
    played = names(program, "--filenames-as-tags", entries)
    wanted = names(program, everything)
    if not wanted or wanted != played:
        sys.exit(f"of {len(wanted)} cases these are in no entry: {sorted(wanted - played)}; "
                 f"and these in one that are not to be played: {sorted(played - wanted)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
