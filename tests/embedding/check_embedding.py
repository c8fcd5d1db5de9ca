#!/usr/bin/env python3
"""Builds two projects of somebody else's: one finds the installed libraries, one has the sources as a folder.
Usage: check_embedding.py SOURCE BUILD COMPILER"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

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
    plays_among_maps(prefix, folder, program)
    names = subprocess.run(["nm", "-D", "--defined-only", str(library / "libashlar_client.so")], check=True,
                           capture_output=True, text=True).stdout.split("\n")
    others = [line for line in names if line and line.split()[1] in "TDB" and not line.split()[2].startswith("ashlar_")]
    if others:
        sys.exit("the shared library shows more than ashlar_client.h: " + ", ".join(others[:5]))


def plays_among_maps(prefix, folder, program):
    """Without any file it plays on a server with a map: what it lacks it fetches."""
    log = folder / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen([prefix / "bin/ashlar-server", "--port", "0", "--map", "COURTYARD", "--monsters", "0"], stdout=out, stderr=out)
    try:
        port = None
        for _ in range(300):
            found = re.search(r"event=ready port=(\d+)", log.read_text())
            if found:
                port = found.group(1)
                break
            time.sleep(0.1)
        if port is None:
            sys.exit("the server did not start: " + log.read_text())
        done = subprocess.run([program, f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=100)
        print(done.stdout, done.stderr)
        if done.returncode != 0 or "foreseen for tick" not in done.stdout:
            sys.exit(f"the C program ended with {done.returncode} on a server with a map")
    finally:
        server.kill()
        server.wait()


def main(source: str, build: str, compiler: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        common = (f"-DCMAKE_CXX_COMPILER={compiler}", f"-DEXAMPLES={source}")
        run("cmake", "--install", build, "--prefix", folder / "prefix")
        # Both without optimisation, as they are compiled but to see that they can be; this one without assertions.
        configure("found", folder / "found", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}",
                  "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG", *common)
        run("cmake", "--build", folder / "found")
        run(folder / "found/stepped_world")
        run(sys.executable, HERE.parent / "check_examples.py", folder / "found/own_loop",
            folder / "found/headless_client")
        run(sys.executable, HERE.parent / "check_examples.py", folder / "found/own_loop",
            folder / "found/walk_square", "square", "ticks were not as foreseen")
        check_c_interface(folder / "prefix", folder, source)
        run(folder / "prefix/bin/ashlar-server", "--version")

        # In few compilations: cmake's own batches are of eight.
        configure("embedded", folder / "embedded", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=64",
                  "-DCMAKE_CXX_FLAGS_RELEASE=-O0", *common)
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
