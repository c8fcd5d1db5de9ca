#!/usr/bin/env python3
"""Plays the example of a client against the example of a server.
Usage: check_examples.py SERVER CLIENT [NAME WORDS [EMULATOR...]]: the server, which takes a port and seconds, or with
flags in the same word is one with the options and the log of ashlar-server; what the client is called, words that it
prints, and what runs it where this system does not"""
import re
import shlex
import subprocess
import sys


def line_with(server, pattern: str):
    """The next line of the server's that has it; the last one where none does."""
    line = ""
    for line in server.stdout:
        if re.search(pattern, line):
            break
    return line


def main(server_program: str, client_program: str, name: str = "example", words: str = "ended at", *emulator: str) -> int:
    command = shlex.split(server_program)
    logs = len(command) > 1
    server = subprocess.Popen(command if logs else [*command, "0", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True)
    try:
        if logs:
            port = re.search(r" port=(\d+)", line_with(server, "event=ready")).group(1)
        else:
            port = server.stdout.readline().split()[1]
        client = subprocess.run([*emulator, client_program, f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=50)
        print(client.stdout, client.stderr)
        joined = line_with(server, "event=joined") if logs else server.stdout.readline()
        known = f"player={name} " in joined if logs else joined == f"{name} joined\n"
        if client.returncode != 0 or words not in client.stdout or not known:
            print(f"the client ended with {client.returncode}, the server said {joined!r}")
            return 1
        return 0
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
