#!/usr/bin/env python3
"""Plays the example of a client against the example of a server.
Usage: check_examples.py OWN_LOOP CLIENT [NAME WORDS [EMULATOR...]]: what the client is called, words that it prints, and
what runs it where this system does not"""
import subprocess
import sys


def main(server_program: str, client_program: str, name: str = "example", words: str = "ended at", *emulator: str) -> int:
    server = subprocess.Popen([server_program, "0", "60"], stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().split()[1]
        client = subprocess.run([*emulator, client_program, f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=50)
        print(client.stdout, client.stderr)
        joined = server.stdout.readline()
        if client.returncode != 0 or words not in client.stdout or joined != f"{name} joined\n":
            print(f"the client ended with {client.returncode}, the server said {joined!r}")
            return 1
        return 0
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
