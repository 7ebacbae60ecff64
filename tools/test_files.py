"""Single test files, and tests by a part of their names, for ./dev test NAME: which there are, what they need, how they run."""
import difflib
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENDINGS = re.compile(r"(\.test\.mjs|_test\.cc)$")
NODE_TEST = re.compile(r"""^\s*(?:test|it)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`\n]*)`)""", re.M)
GOOGLE_TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.M)
PROGRAM = re.compile(r"lathe_test\(\s*(\w+)\s+SOURCES([^)]*?)\sDEPS", re.S)
# Programs of the native build that a Node test starts: by path, or by the helpers of the command `lathe`.
NATIVE_PROGRAM = re.compile(r"build/native/(?:\w+/)*(\w+)['`]")
# SwiftShader, the software Vulkan that comes with Debian's chromium, as the GPU of Node: loaders read this when a process starts.
SWIFTSHADER = ["env", "VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json", "LD_LIBRARY_PATH=/usr/lib/chromium"]


def paths():
    """The test files, relative to the root."""
    found = [*(ROOT / "tests").rglob("*.test.mjs"), *(ROOT / "tests/unit").rglob("*_test.cc")]
    return sorted(str(path.relative_to(ROOT)) for path in found if "node_modules" not in path.parts)


def stem(path):
    return ENDINGS.sub("", path)


def titles(path):
    """The names of the tests in a file; of Node tests those that are literals."""
    text = (ROOT / path).read_text()
    if path.endswith(".cc"):
        return [".".join(each) for each in GOOGLE_TEST.findall(text)]
    return [re.sub(r"\\\\(.)", r"\\1", "".join(each)) for each in NODE_TEST.findall(text)]


def find(name):
    """{path: titles of the tests to run, or None for all} of the files with this path or a part of it, or else of tests by title."""
    files = paths()
    exact = [path for path in files if name in (path, stem(path)) or stem(path).endswith(f"/{name}")]
    if chosen := exact or [path for path in files if name in stem(path).removeprefix("tests/")]:
        return dict.fromkeys(chosen)
    found = {path: [each for each in titles(path) if name.lower() in each.lower()] for path in files}
    return {path: each for path, each in found.items() if each}


def nearest(name, suites):
    """Names of suites and files like a wrong one."""
    names = {each: each for each in suites}
    for path in paths():
        names.update({part: path for part in (stem(path).rpartition("/")[2], re.sub(r"^tests/(js/node|unit)/", "", stem(path)))})
    return list(dict.fromkeys(names[each] for each in difflib.get_close_matches(stem(name), names, 5, 0.6)))


def google_test(path, only, is_quick):
    """What it needs and its command: of the program that contains the file only the tests of the file."""
    folder = pathlib.Path(path).parent
    programs = PROGRAM.findall((ROOT / folder / "CMakeLists.txt").read_text())
    program = next(name for name, sources in programs if pathlib.Path(path).name in sources.split()) + "_test"
    preset = "edit" if is_quick else "native"
    patterns = ":".join(f"{each}:*/{each}/*" for each in only or titles(path))
    return f"{preset}:{program}", [f"build/{preset}/{folder}/{program}", f"--gtest_filter={patterns}"]


def node_test(path, only):
    text = (ROOT / path).read_text()
    programs = {*NATIVE_PROGRAM.findall(text), *["lathe"] * ("/command.mjs'" in text)}
    needs = ["package" if "build/package" in text else "dist", *(f"native:{each}" for each in sorted(programs))]
    # What a title computes matches anything.
    patterns = [".*".join(map(re.escape, re.split(r"\$\{[^}]*\}", title))) for title in only or ()]
    picked = [f"--test-name-pattern=^{each}$" for each in patterns]
    gpu = SWIFTSHADER if path.startswith("tests/js/webgpu/") else []
    return " ".join(needs), [*gpu, "node", "--test", "--test-reporter=tap", *picked, path]
