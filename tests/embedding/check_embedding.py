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


def check_c_interface(prefix, folder, source):
    """A program in C99 finds the header and the shared library, and plays."""
    library = next(prefix.rglob("libashlar_client.so")).parent
    program = folder / "walk_square_c"
    run("gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{prefix / 'include'}",
        f"{source}/client_sim/examples/walk_square.c", "-o", program, f"-L{library}", "-lashlar_client",
        f"-Wl,-rpath,{library}")
    run(sys.executable, HERE.parent / "check_examples.py", folder / "found/own_loop", program, "square_c",
        "ticks were not as foreseen")
    names = subprocess.run(["nm", "-D", "--defined-only", str(library / "libashlar_client.so")], check=True,
                           capture_output=True, text=True).stdout.split("\n")
    others = [line for line in names if line and line.split()[1] in "TDB" and not line.split()[2].startswith("ashlar_")]
    if others:
        sys.exit("the shared library shows more than ashlar_client.h: " + ", ".join(others[:5]))


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
        run(sys.executable, HERE.parent / "check_examples.py", folder / "found/own_loop",
            folder / "found/walk_square", "square", "ticks were not as foreseen")
        check_c_interface(folder / "prefix", folder, source)
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
