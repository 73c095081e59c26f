#!/usr/bin/env python3
"""Sees that the course keeps its word: every command prints what stands below it, every exercise has a solution that passes.

    course_test.py PROGRAM [unittest's own words]
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "docs" / "learn"
PROGRAM = Path(sys.argv.pop(1)).resolve()
WIDTH = 76  # what an ordinary terminal shows without cutting code
FEWEST_WORDS, MOST_WORDS, FEWEST_EXERCISES = 1000, 2000, 30
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^### Exercise (\d+)\. (.*)$", re.MULTILINE)
PATIENT_ROW = re.compile(r"^\| ([a-z0-9-]+) \| (?:`([a-z0-9-]+)`)? ?\| (?:`([a-z0-9-]+)`)? ?\|$", re.MULTILINE)
HAS_GALLERY = (PROGRAM.parent / "osler-gallery").exists()

sys.path.insert(0, str(ROOT / "tests" / "course"))
import figures  # noqa: E402  beside this file


def lessons():
    return sorted(path for path in COURSE.glob("*.md") if path.name[0].isdigit())


def commands(page):
    """The commands of a page's console blocks, each with the lines that stand below it."""
    for language, block in FENCE.findall(page.read_text()):
        if language != "console":
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            command = lines.pop(0)
            while command.endswith("\\"):
                command = command[:-1] + lines.pop(0).strip()
            yield command, lines


def flat(line):
    return " ".join(line.split())


def pattern(line):
    """A line of a transcript as an expression; "..." stands for anything."""
    return re.compile(".*".join(re.escape(flat(part)) for part in line.split("...")).replace(r"\ .*", ".*"))


def missing(printed, expected):
    """The first expected line that does not come, in its order, in what was printed; None when all do."""
    rest = [flat(line) for line in printed.splitlines()]
    for line in expected:
        if line.strip() in ("", "..."):
            continue
        wanted = pattern(line)
        at = next((i for i, have in enumerate(rest) if wanted.search(have)), None)
        if at is None:
            return line
        rest = rest[at + 1:]
    return None


def environment(home):
    return {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "HOME": str(home), "COLUMNS": str(WIDTH), "LANG": "C.UTF-8"}


def prepared_folder(name):
    """A folder as the lessons assume it: the laboratory, the tree's logs, and osler on the path."""
    folder = Path(name)
    (folder / "bin").mkdir()
    (folder / "bin" / "osler").symlink_to(PROGRAM)
    shutil.copy(COURSE / "lab.py", folder)
    for part in ("examples", "tests"):
        (folder / part).symlink_to(ROOT / part)
    return folder


def run(command, folder):
    return subprocess.run(command, shell=True, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=600, check=False)


class Commands(unittest.TestCase):
    def check(self, page):
        skipped = []
        with tempfile.TemporaryDirectory() as name:
            folder = prepared_folder(name)
            for command, expected in commands(page):
                needs_gallery = command.startswith("osler gallery") or "osler-gallery/" in command
                if needs_gallery and not HAS_GALLERY:
                    skipped.append(command)
                    continue
                with self.subTest(page=page.name, command=command):
                    done = run(command, folder)
                    self.assertIn(done.returncode, (0, 1), f"it cannot be run: {done.stderr}")
                    self.assertIsNone(missing(done.stdout + done.stderr, expected),
                                      f"this line does not come; what came was\n{done.stdout}{done.stderr}")
        if skipped:
            print(f"{page.name}: not run without the gallery: {', '.join(skipped)}", file=sys.stderr)


def add_page(page, kind=""):
    setattr(Commands, "test_" + kind + re.sub(r"\W", "_", page.stem), lambda self: self.check(page))


for each in [*lessons(), COURSE / "README.md"]:
    add_page(each)
for each in sorted((COURSE / "solutions").glob("*.md")):
    add_page(each, "solution_")


class Pages(unittest.TestCase):
    def test_lessons_are_of_a_length_for_one_sitting(self):
        for page in lessons():
            text = page.read_text().split("\n## Exercises\n")[0]
            with self.subTest(page=page.name):
                self.assertTrue(FEWEST_WORDS <= len(text.split()) <= MOST_WORDS, f"{len(text.split())} words")

    def test_the_index_names_every_lesson(self):
        index = (COURSE / "README.md").read_text()
        for page in lessons():
            self.assertIn(f"({page.name})", index)

    def test_code_fits_an_ordinary_terminal(self):
        for page in lessons():
            for _, block in FENCE.findall(page.read_text()):
                for line in block.splitlines():
                    self.assertLessEqual(len(line), WIDTH, f"{page.name}: {line}")

    def test_figures_are_listed_and_used(self):
        used = {figures.IMAGES / name for page in lessons() for name in re.findall(r"\]\(images/([^)]+)\)", page.read_text())}
        kept = {path for path, _, _ in figures.listed()}
        self.assertEqual(used, {path for path in kept if path.parent == figures.IMAGES})
        self.assertEqual(set(figures.IMAGES.iterdir()) | set(figures.PAGES.glob("*.svg")), kept)

    def test_figures_can_be_drawn(self):
        size = re.compile(r'<svg[^>]* width="([^"]+)"')
        with tempfile.TemporaryDirectory() as folder:
            for kept, source, options in figures.listed():
                if source.startswith("gallery") and not HAS_GALLERY:
                    continue
                with self.subTest(figure=kept.name):
                    output = Path(folder) / kept.name
                    figures.draw(PROGRAM, source, options, output)
                    self.assertEqual(size.search(output.read_text()).group(1), size.search(kept.read_text()).group(1))

    def test_figures_name_no_path_of_the_machine_that_drew_them(self):
        with tempfile.TemporaryDirectory() as folder:
            program, asked = Path(folder) / "program", Path(folder) / "asked"
            program.write_text(f'#!/bin/sh\necho "$2" >> {asked}\n')
            program.chmod(0o755)
            for source in ("examples/logs/sick.csv", "lab --steps 2"):
                figures.draw(program, source, "--kind overview", Path(folder) / "drawn.svg")
            self.assertEqual(asked.read_text().splitlines(), ["examples/logs/sick.csv", "drawn.csv"])

    def test_the_tables_of_patients_tell_what_their_files_do(self):
        known, told = {}, set()
        for path in (ROOT / "gallery").glob("*.cpp"):
            text = path.read_text()
            field = {key: re.search(rf'patient\.{key} =\s*"([^"]*)"', text) for key in ("id", "finding", "cause")}
            known[field["id"].group(1)] = tuple(field[key].group(1) if field[key] else "" for key in ("finding", "cause"))
        for page in lessons():
            for patient, finding, cause in PATIENT_ROW.findall(page.read_text()):
                if patient == "patient":
                    continue
                with self.subTest(page=page.name, patient=patient):
                    self.assertIn(patient, known)
                    self.assertEqual((finding, cause), known[patient])
                told.add(patient)
        self.assertEqual(set(known) - told, set(), "these patients are in no lesson")


class Exercises(unittest.TestCase):
    def exercises(self):
        return {int(number): page for page in lessons() for number, _ in EXERCISE.findall(page.read_text())}

    def test_they_are_numbered_from_one(self):
        numbers = sorted(self.exercises())
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertGreaterEqual(len(numbers), FEWEST_EXERCISES)

    def test_each_has_a_solution_under_the_same_title(self):
        for page in lessons():
            titles = EXERCISE.findall(page.read_text())
            if titles:
                with self.subTest(page=page.name):
                    self.assertEqual(EXERCISE.findall((COURSE / "solutions" / page.name).read_text()), titles)

    def test_the_answers_that_solutions_give_are_right_and_their_wrong_ones_wrong(self):
        with tempfile.TemporaryDirectory() as name:
            folder = prepared_folder(name)
            for page in lessons():
                solutions = COURSE / "solutions" / page.name
                parts = EXERCISE.split(solutions.read_text()) if solutions.exists() else [""]
                for number, text in zip(parts[1::3], parts[3::3]):
                    for answer in re.findall(r"<!-- answer: (.*) -->", text):
                        for right in [answer.split()[1]] if answer.startswith("between") else answer.split(" | "):
                            self.assertEqual(run(f"osler learn check {number} {right}", folder).returncode, 0, number)
                    for wrong, why in re.findall(r"<!-- not (.*?): (.*) -->", text):
                        done = run(f"osler learn check {number} {wrong}", folder)
                        self.assertEqual(done.returncode, 1, (number, wrong))
                        self.assertIn(flat(why)[:40], flat(done.stdout), "the reason is not given")

    def test_solutions_pass_their_tests_and_skeletons_do_not(self):
        with tempfile.TemporaryDirectory() as name:
            folder = prepared_folder(name)
            for exercise in sorted((COURSE / "exercises").iterdir()):
                number = int(exercise.name.split("-")[0])
                solution = next((COURSE / "solutions").glob(exercise.name + ".[!m]*"))
                with self.subTest(exercise=exercise.name):
                    if solution.suffix == ".h" and shutil.which("c++") is None:
                        self.skipTest("there is no C++ compiler")
                    done = run(f"osler learn check {number} {solution}", folder)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    taken = run(f"osler learn take {number}", folder)
                    self.assertEqual(taken.returncode, 0, taken.stderr)
                    done = run(f"osler learn check {number} {taken.stdout.strip()}", folder)
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


class Laboratory(unittest.TestCase):
    """The backward pass of the laboratory, held against central differences as exercise 42 does."""

    def load(self, path, name):
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_its_gradients_are_right(self):
        import argparse
        import random
        sys.dont_write_bytecode = True
        lab = self.load(COURSE / "lab.py", "lab")
        check = self.load(COURSE / "solutions" / "42-gradient-check.py", "gradient_check").gradient_check
        for activation in ("relu", "tanh", "sigmoid"):
            for residual in (False, True):
                with self.subTest(activation=activation, residual=residual):
                    options = argparse.Namespace(activation=activation, residual=residual, width=4, depth=3, init=1.0,
                                                 bias=0.1, input_scale=1.0, label_noise=0.0)
                    rng = random.Random(5)
                    network, batch = lab.Network(options, rng), lab.spirals(6, rng, options)
                    rows = [row for layer in network.weights for row in layer]
                    weights = [weight for row in rows for weight in row]

                    def loss(values):
                        values = iter(values)
                        for row in rows:
                            row[:] = [next(values) for _ in row]
                        return network.gradient(batch)[0]

                    _, slopes, _ = network.gradient(batch)
                    gradient = [slope for layer in slopes for row in layer for slope in row]
                    self.assertLess(check(loss, weights, gradient), 1e-5)


if __name__ == "__main__":
    unittest.main()
