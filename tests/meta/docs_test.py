#!/usr/bin/env python3
"""Sees that every link in the Markdown files leads somewhere and that every command they show exists."""

import fnmatch
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
VERBS = ("diagnose", "explain", "list", "watch", "compare", "serve", "convert", "plot", "gallery", "report", "baseline",
         "completion", "man", "mcp", "learn", "note", "store", "ship", "examine", "fleet")


def pages():
    """All Markdown files of the tree, without what was built or fetched."""
    return sorted(path for path in ROOT.rglob("*.md")
                  if not {"build", "node_modules", ".git"} & set(path.relative_to(ROOT).parts))


def anchors(text):
    """The names under which the headings of a page can be linked to."""
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "")).strip().lower().replace(" ", "-")
            for heading in HEADING.findall(FENCE.sub("", text))}


def parts_of_packages():
    """The packages of each part of packages.txt."""
    parts, here = {}, None
    for line in (ROOT / "packages.txt").read_text().splitlines():
        words = line.partition("#")[0].strip()
        if words.startswith("["):
            here = words.strip("[]")
        elif words:
            parts.setdefault(here, []).append(words)
    return parts


def version():
    return re.search(r'kVersion = "([0-9.]+)"', (ROOT / "include/osler/base/version.h").read_text()).group(1)


def commands(text):
    """The lines of the shell blocks of a page, and the commands it names in passing."""
    for language, block in FENCE.findall(text):
        if language in ("sh", "bash", "console"):
            for line in block.splitlines():
                prompt = language != "console" or line.startswith("$ ")
                if prompt and line.strip() and not line.startswith("#"):
                    yield line.removeprefix("$ ").strip()
    for inline in re.findall(r"`((?:make|tools/|osler|build/osler) ?[^`\n]*)`", FENCE.sub("", text)):
        yield inline


# What a file says at its top that a command has written, and the files that hold pictures and data.
WRITTEN = re.compile(r"(?i)\b(written|made|generated) by\s+`?(osler|tools/)|not to be edited by hand|do not edit|is written by\n")
PICTURES = {".png", ".svg", ".zst", ".gz", ".jpg"}


def committed():
    """The files that git knows, or all that are there where this is no checkout."""
    told = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode == 0:
        return [ROOT / name for name in told.stdout.splitlines() if (ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not {"build", "node_modules", ".git"} & set(path.parts)]


class Generated(unittest.TestCase):
    """The list in CONTRIBUTING.md of what is committed and made by a command."""

    def setUp(self):
        self.rows = re.findall(r"^  \| (.*`.*) \| (.*`.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
        self.assertGreater(len(self.rows), 10)
        self.patterns = [pattern for files, _ in self.rows for pattern in re.findall(r"`([^` ]*[./][^` ]*)`", files)]

    def listed(self, path):
        return any(fnmatch.fnmatch(str(path.relative_to(ROOT)), pattern) for pattern in self.patterns)

    def test_what_is_listed_is_there(self):
        for pattern in self.patterns:
            with self.subTest(pattern):
                self.assertTrue(any(fnmatch.fnmatch(str(path.relative_to(ROOT)), pattern) for path in committed()))

    def test_commands_that_are_listed_exist(self):
        score = (ROOT / "tests" / "score" / "main.cpp").read_text()
        for _, command in self.rows:
            words = re.search(r"`([^`]+)`", command).group(1).split()
            with self.subTest(command):
                if words[0] == "osler_score":
                    self.assertTrue(f'"{words[1]}"' in score or f'"{words[1]},' in score, f"it knows no {words[1]}")
                elif not words[0].startswith(("build/", "osler_population", "npm")):
                    self.assertTrue((ROOT / words[0]).is_file())

    def test_what_says_that_a_command_wrote_it_is_listed(self):
        seen = 0
        for path in committed():
            if path.suffix in (".md", ".cpp", ".h", ".csv", ".json", ".txt") and path.name not in ("CONTRIBUTING.md", "README.md"):
                top = "".join(path.read_text(errors="replace").splitlines(keepends=True)[:8])
                if WRITTEN.search(top):
                    seen += 1
                    self.assertTrue(self.listed(path), f"CONTRIBUTING.md does not say which command makes {path.relative_to(ROOT)}")
        self.assertGreaterEqual(seen, 5)

    def test_every_picture_and_archive_is_listed(self):
        for path in committed():
            if path.suffix in PICTURES and "samples" not in path.parts:
                self.assertTrue(self.listed(path), f"CONTRIBUTING.md does not say which command makes {path.relative_to(ROOT)}")


class Gallery(unittest.TestCase):
    """docs/gallery.md, which a command writes when somebody runs it."""

    def setUp(self):
        self.page = (ROOT / "docs" / "gallery.md").read_text()

    def test_names_every_patient_and_none_that_is_gone(self):
        patients = {re.search(r'patient\.id = "([^"]+)"', path.read_text()).group(1) for path in (ROOT / "gallery").glob("*.cpp")}
        self.assertGreater(len(patients), 60)
        rows = re.findall(r"^\| \[?([a-z0-9-]+)[\]|( ].*\|$", self.page, re.MULTILINE)
        told = set(rows) - {"patient", "control"}
        self.assertEqual(told ^ patients, set(), "run: build/osler gallery --all --seeds 3 --page docs/gallery.md")

    def test_every_patient_has_its_picture_and_no_picture_is_left_over(self):
        kept = {path.name for path in (ROOT / "docs" / "gallery").iterdir()}
        self.assertEqual(set(re.findall(r"\]\(gallery/([^)]+)\)", self.page)), kept)


class Docs(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in pages():
            text = page.read_text()
            for found in LINK.finditer(FENCE.sub("", text)):
                target = found.group(1) or found.group(2)
                if re.match(r"[a-z]+:", target):
                    continue
                with self.subTest(page=str(page.relative_to(ROOT)), link=target):
                    name, _, anchor = target.partition("#")
                    file = (page.parent / name).resolve() if name else page
                    self.assertTrue(file.exists(), f"{target} does not exist")
                    self.assertTrue(file.is_relative_to(ROOT), f"{target} leads out of the tree")
                    if anchor and file.suffix == ".md":
                        self.assertIn(anchor, anchors(file.read_text()))

    def test_commands_exist(self):
        goals = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
        self.assertIn("demo", goals)
        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for command in commands(page.read_text()):
                with self.subTest(page=str(page.relative_to(ROOT)), command=command):
                    self.check_command(command, goals)

    def check_command(self, command, goals):
        words = command.partition(" #")[0].split()
        if words[0] == "make":
            for goal in words[1:]:
                self.assertTrue("=" in goal or goal in goals, f"make has no goal '{goal}'")
        elif words[0].startswith("tools/"):
            self.assertTrue((ROOT / words[0]).exists(), f"{words[0]} does not exist")
        elif words[0] in ("osler", "build/osler") and len(words) > 1:
            self.assertIn(words[1].strip("."), VERBS + ("help", "--help", "--version"), "osler has no such verb")

    def test_code_of_the_training_guide_is_in_its_example(self):
        example = {line.strip() for line in (ROOT / "examples" / "train" / "main.cpp").read_text().splitlines()}
        for language, block in FENCE.findall((ROOT / "docs" / "guides" / "training.md").read_text()):
            for line in block.splitlines() if language == "cpp" else ():
                self.assertIn(line.strip(), example)

    def test_the_citation_names_the_version_that_is_built(self):
        self.assertIn(f"\nversion: {version()}\n", (ROOT / "CITATION.cff").read_text())

    def test_whoever_looks_for_the_package_asks_for_the_version_that_is_built(self):
        minor = version().rpartition(".")[0]
        places = [path for folder in ("docs", "examples", "tests") for path in sorted((ROOT / folder).rglob("*"))
                  if path.name == "CMakeLists.txt" or (path.suffix == ".md" and path.parent.name == "guides")]
        asked = [(path.name, wanted) for path in places
                 for wanted in re.findall(r"find_package\(osler (\d+\.\d+) ", path.read_text())]
        self.assertGreaterEqual(len(asked), 4)
        for name, wanted in asked:
            with self.subTest(name):
                self.assertEqual(wanted, minor)

    def test_pages_name_the_oldest_node_that_builds_the_dashboard(self):
        oldest = re.search(r"OSLER_OLDEST_NODE ([0-9.]+)\)", (ROOT / "cmake" / "OslerDashboard.cmake").read_text()).group(1)
        for page in ("README.md", "docs/guides/install.md", "docs/guides/serve.md", "docs/dependencies.md"):
            with self.subTest(page):
                self.assertEqual(re.findall(r"Node(?:\.js)? ([0-9.]*[0-9])", (ROOT / page).read_text()), [oldest])

    def test_the_map_of_modules_is_that_of_cmake(self):
        rows = dict(re.findall(r"^\| `src/(\w+)/` \|.*\| ([^|]+) \|$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE))
        declared = {}
        for path in sorted((ROOT / "src").glob("*/CMakeLists.txt")):
            name, arguments = re.search(r"osler_module\(\s*(\w+)([^)]*)\)", path.read_text()).groups()
            uses = re.search(r"\bDEPENDS((?:\s+[a-z]+)+)(?=\s+[A-Z]|\s*$)", arguments)
            declared[name] = set(uses.group(1).split()) if uses else set()
        told = {name: set() if uses == "nothing of ours" else set(uses.split(", ")) for name, uses in rows.items()}
        self.assertEqual(told, declared)

    def test_every_module_says_what_belongs_there(self):
        for path in sorted((ROOT / "src").glob("*/CMakeLists.txt")):
            with self.subTest(module=path.parent.name):
                readme = path.parent / "README.md"
                self.assertTrue(readme.is_file(), f"{readme.relative_to(ROOT)} is missing")
                title, *paragraphs = readme.read_text().split("\n\n")
                self.assertEqual(title, f"# {path.parent.name}")
                self.assertGreaterEqual(len(paragraphs), 2, "what it is, and what belongs there")

    def test_every_decision_is_listed(self):
        index = (ROOT / "docs" / "index.md").read_text()
        for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
            self.assertIn(f"decisions/{page.name}", index)

    def test_every_package_has_its_reason(self):
        reasons = (ROOT / "docs" / "dependencies.md").read_text()
        for part, packages in parts_of_packages().items():
            for package in packages:
                with self.subTest(part=part, package=package):
                    self.assertTrue(f"`{package}`" in reasons, f"docs/dependencies.md does not say why {package} is needed")

    def test_packages_are_sorted_within_their_part_and_stand_in_one_part_only(self):
        every = []
        for part, packages in parts_of_packages().items():
            with self.subTest(part=part):
                self.assertEqual(packages, sorted(set(packages)))
            every += packages
        self.assertEqual(len(every), len(set(every)))

    def test_every_part_of_the_packages_that_is_asked_for_exists(self):
        parts = parts_of_packages()
        self.assertNotIn(None, parts, "a package stands before the first part")
        asked = 0
        for path in (ROOT / "Makefile", ROOT / ".github" / "actions" / "osler" / "action.yml"):
            makefile = path.read_text().replace("$(BUILD_PACKAGES)", "build torch")
            for words in re.findall(r'tools/setup"?((?: [a-z]+)+)$', makefile, re.MULTILINE):
                asked += 1
                self.assertLessEqual(set(words.split()), set(parts), path.name)
        self.assertGreaterEqual(asked, 4)


if __name__ == "__main__":
    unittest.main()
