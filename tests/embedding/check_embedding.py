#!/usr/bin/env python3
"""Builds two projects of somebody else's: one finds the installed libraries, one has the sources as a folder.
Usage: check_embedding.py SOURCE BUILD COMPILER"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True)


def configure(project, build, *options):
    run("cmake", "-G", "Ninja", "-S", HERE / project, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *options)


def main(source: str, build: str, compiler: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        common = (f"-DCMAKE_CXX_COMPILER={compiler}", f"-DEXAMPLES={source}")
        run("cmake", "--install", build, "--prefix", folder / "prefix")
        configure("found", folder / "found", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", *common)
        run("cmake", "--build", folder / "found")
        run(folder / "found/stepped_world")
        run(sys.executable, HERE.parent / "check_examples.py", folder / "found/own_loop",
            folder / "found/headless_client")
        run(folder / "prefix/bin/ashlar-server", "--version")

        configure("embedded", folder / "embedded", "-DCMAKE_UNITY_BUILD=ON", *common)
        options = (folder / "embedded/options.txt").read_text().strip()
        if options != "-ffp-contract=off":
            sys.exit(f"Ashlar's own options reach the project that embeds it: {options}")
        run("cmake", "--build", folder / "embedded", "--target", "stepped_world")
        run(folder / "embedded/programs/stepped_world")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {error}")
