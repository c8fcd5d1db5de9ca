#!/usr/bin/env python3
"""Prints how large files and functions are, how many asserts stand in them, and which public declarations have a
contract, by room. Fails where a bound is broken. Usage: figures.py ROOT [--missing]
--missing names the declarations without a contract.
"""
import pathlib
import re
import statistics
import sys

ROOMS = ("world", "protocol", "server", "client_sim")
FUNCTION_LINES_MAX = 70  # tables apart: a function that only lists values or cases may be longer
CONTRACTS_PERCENT_MIN = {"world": 95, "protocol": 95, "server": 95, "client_sim": 95}
ASSERT = re.compile(r"\b(ASHLAR_ASSERT(_SLOW)?|static_assert)\b")
# A function's head at the start of a definition: a name, its parameters, and an opening brace at the end.
HEAD = re.compile(r"^(?!\s*(?:if|for|while|switch|else|do|return|namespace|struct|class|enum|union|try|catch)\b).*"
                  r"[\w>~]\s*\(.*\)?.*\{\s*$")
TABLE_ROW = re.compile(r"^\s*(case .*|\{.*\},?|.*\},|\"[^\n]*)$")


def head_start(lines, number: int) -> int:
    """Where a head begins whose brace stands in this line: parameters and initialisers may fill several lines."""
    def continued(before: str, line: str) -> bool:
        return before.endswith((",", "(", "&&", "||", "=")) or line.lstrip().startswith((":", ",")) and "{" not in before
    while number > 0 and continued(lines[number - 1].split("//")[0].rstrip(), lines[number]):
        number -= 1
    return number


def functions(text: str):
    """(first line, name line, length, rows of tables) of each definition at the depth of a namespace or class."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        start = head_start(lines, number) if lines[number].rstrip().endswith("{") else number
        line = lines[start]
        head = " ".join(l.strip() for l in lines[start:number + 1])
        if HEAD.match(head) and not head.startswith(("//", "*", "#", ":", ",")) and " = " not in head.split("(")[0]:
            indent = len(line) - len(line.lstrip())
            end = next((i for i in range(number + 1, len(lines))
                        if re.match(r"^" + " " * indent + r"\}", lines[i])), None)
            if end is not None:
                body = lines[start:end + 1]
                yield start + 1, line.strip(), len(body), sum(1 for l in body if TABLE_ROW.match(l))
                number = end
        number += 1


def declarations(text: str):
    """(line, text, has a contract) of the functions and types that a header offers."""
    private, described, continued = False, False, False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith(("private:", "protected:")):
            private = True
        elif stripped.startswith("public:") or line.startswith(("}", "struct", "class")):
            private = False
        if not stripped:
            described = False
            continue
        if stripped.startswith(("///", "template", "//")):
            described = described or stripped.startswith("///")
            continue
        depth = len(line) - len(line.lstrip())
        kind = re.match(r"(struct|class|enum class) \w+.*\{$", stripped)
        call = re.match(r"[\w:<>,&*\s\[\]~]+\(.*", stripped) and not re.match(r"(return|if|for|while|switch|else|"
                        r"static_assert|ASHLAR_|using|friend|explicit operator|assert)\b", stripped)
        if not continued and depth <= 2 and not private and (kind or call):
            trivial = re.search(r"= (default|delete);|operator|override|~\w+\(", stripped)
            if not trivial:
                yield number, stripped, described or "///<" in line
        continued = not stripped.endswith((";", "{", "}", ":", ","))
        if stripped.endswith(","):
            continued = True
        # One contract covers the overloads that follow it without a gap.


def quantiles(values):
    values = sorted(values) or [0]
    return statistics.median(values), values[int(0.9 * (len(values) - 1))], values[-1]


def main(root: pathlib.Path, missing: bool) -> int:
    broken = []
    print(f"{'room':<11}{'files':>6}{'lines':>8}{'file p50/p90/max':>20}{'function p50/p90/max':>23}"
          f"{'asserts/1000':>14}{'contracts':>11}{'tests/line':>12}")
    for room in ROOMS:
        files = sorted(p for p in (root / room).rglob("*") if p.suffix in {".h", ".cpp"})
        lengths, sizes, asserts, told, offered = [], [], 0, 0, 0
        for path in files:
            text = path.read_text(encoding="utf-8")
            lengths.append(text.count("\n"))
            asserts += len(ASSERT.findall(text))
            for number, head, length, rows in functions(text):
                sizes.append(length)
                if length - rows > FUNCTION_LINES_MAX:
                    broken.append(f"{path.relative_to(root)}:{number}: {length} lines in one function: {head}")
            if path.suffix == ".h":
                for number, line, has in declarations(text):
                    offered += 1
                    told += has
                    if missing and not has:
                        print(f"{path.relative_to(root)}:{number}: no contract: {line}")
        tests = sum(p.read_text(encoding="utf-8").count("\n") for p in (root / "tests" / room).rglob("*.cpp"))
        percent = 100 * told / max(offered, 1)
        if percent < CONTRACTS_PERCENT_MIN[room]:
            broken.append(f"{room}: {percent:.0f} % of the public declarations have a contract, "
                          f"at least {CONTRACTS_PERCENT_MIN[room]} are wanted")
        print(f"{room:<11}{len(files):>6}{sum(lengths):>8}{'%d / %d / %d' % quantiles(lengths):>20}"
              f"{'%d / %d / %d' % quantiles(sizes):>23}{1000 * asserts / sum(lengths):>14.1f}{percent:>9.0f} %"
              f"{tests / sum(lengths):>12.2f}")
    print("\n".join(broken) if broken else "all within bounds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--missing" in sys.argv))
