#!/usr/bin/env python3
"""Runs the tools that make or install something in places where they can do no harm."""

import importlib.machinery
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


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="osler-tools-"))
        self.addCleanup(shutil.rmtree, self.folder)


class New(InAFolder):
    def new(self, *arguments):
        return subprocess.run([ROOT / "tools" / "new", *arguments, "--root", self.folder], capture_output=True, text=True,
                              check=False)

    def test_a_finding_gets_its_file_its_cases_and_its_public_id(self):
        outcome = self.new("finding", "loss-sings", "--family", "loss")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("Finding loss_sings()",
                      (self.folder / "src/diagnosis/findings/loss/loss_sings.cpp").read_text())
        self.assertIn("sick-NAME.csv", (self.folder / "tests/cases/loss-sings/README.md").read_text())
        self.assertEqual((self.folder / "tests/meta/catalogue_ids.txt").read_text(), "finding loss-sings\n")

    def test_public_ids_stay_sorted_and_single(self):
        for kind, name in (("cause", "b"), ("cause", "a"), ("finding", "z")):
            family = ("--family", "loss") if kind == "finding" else ()
            self.assertEqual(self.new(kind, name, *family).returncode, 0)
        listing = self.folder / "tests/meta/catalogue_ids.txt"
        self.assertEqual(listing.read_text().splitlines(), ["finding z", "cause a", "cause b"])
        (self.folder / "src/diagnosis/causes/a.cpp").unlink()
        self.assertEqual(self.new("cause", "a").returncode, 0)
        self.assertEqual(listing.read_text().splitlines(), ["finding z", "cause a", "cause b"])

    def test_nothing_is_overwritten(self):
        self.assertEqual(self.new("cause", "lr-too-loud").returncode, 0)
        again = self.new("cause", "lr-too-loud")
        self.assertEqual(again.returncode, 1)
        self.assertIn("already", again.stderr)

    def test_bad_names_are_refused(self):
        for name in ("Loss", "loss_sings", "-loss", "loss--sings", "löss", ""):
            with self.subTest(name=name):
                self.assertNotEqual(self.new("cause", "--", name).returncode, 0)
        self.assertEqual(list(self.folder.rglob("*.cpp")), [])

    def test_a_finding_needs_a_family(self):
        outcome = self.new("finding", "loss-sings")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("--family", outcome.stderr)


class UnpackPackage(InAFolder):
    """tools/unpack-package with an apt-get that has one package: a real one, made here."""

    def setUp(self):
        super().setUp()
        self.package = self.build("peer")
        self.tools = self.folder / "bin"
        self.tools.mkdir()

    def build(self, name):
        tree = self.folder / f"{name}-tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN" / "control").write_text(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: m <m@m.m>\nDescription: d\n")
        (tree / "usr").mkdir()
        (tree / "usr" / name).write_text("a program\n")
        package = self.folder / f"{name}_1_all.deb"
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, package], check=True, capture_output=True)
        return package

    def unpack(self, apt_get, *more):
        (self.tools / "apt-get").write_text(f"#!/bin/bash\n{apt_get}\n")
        (self.tools / "apt-get").chmod(0o755)
        return subprocess.run([ROOT / "tools" / "unpack-package", "peer", self.folder / "out", *more], capture_output=True, text=True,
                              check=False, env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"})

    def test_the_program_lies_in_the_folder_and_is_fetched_once(self):
        outcome = self.unpack(f"cp {self.package} .")
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        self.assertEqual((self.folder / "out" / "usr" / "peer").read_text(), "a program\n")
        self.assertEqual(self.unpack("echo asked again; exit 1").stderr, "")

    def test_what_it_needs_lies_beside_it(self):
        outcome = self.unpack(f"cp {self.package} {self.build('second')} .", "second")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertEqual(sorted(path.name for path in (self.folder / "out" / "usr").iterdir()), ["peer", "second"])

    def test_without_all_it_needs_there_is_nothing(self):
        self.assertEqual(self.unpack(f"cp {self.package} .", "second").returncode, 0)
        self.assertFalse((self.folder / "out").exists())

    def test_what_cannot_be_fetched_is_said_and_leaves_nothing_behind(self):
        outcome = self.unpack("echo 'E: no such package' >&2; exit 100")
        self.assertEqual(outcome.returncode, 0)
        self.assertIn("peer could not be fetched", outcome.stderr)
        self.assertIn("E: no such package", outcome.stderr)
        self.assertFalse((self.folder / "out").exists())
        self.assertFalse((self.folder / "out.part").exists())


class Setup(InAFolder):
    """tools/setup with its own copy of the package list and a Debian that only writes down what it is asked."""

    def setUp(self):
        super().setUp()
        (self.folder / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "setup", self.folder / "tools" / "setup")
        (self.folder / "packages.txt").write_text("# comment\n[build]\nalpha\n\n[check]\nbeta  # reason\n")
        self.tools = self.folder / "bin"
        self.tools.mkdir()
        self.asked = self.folder / "asked"
        self.fake("sudo", '"$@"')

    def fake(self, name, body):
        path = self.tools / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> {self.asked}\n{body}\n')
        path.chmod(0o755)

    def installed(self, *packages):
        self.fake("dpkg-query", "\n".join(f"echo '{package} install ok installed'" for package in packages))

    def run_setup(self, *parts):
        path = f"{self.tools}:{os.environ['PATH']}"
        outcome = subprocess.run([self.folder / "tools" / "setup", *parts], capture_output=True, text=True, check=False,
                                 stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path})
        lines = self.asked.read_text().splitlines() if self.asked.exists() else []
        return outcome, [line for line in lines if line.startswith("apt")]

    def test_nothing_missing_means_nothing_done_and_nothing_said(self):
        self.installed("alpha", "beta")
        outcome, asked = self.run_setup()
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        self.assertEqual(asked, [])

    def test_only_what_is_missing_is_installed_and_named(self):
        self.installed("alpha")
        self.fake("apt-cache", "exit 0")
        self.fake("apt-get", "exit 0")
        outcome, asked = self.run_setup()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("missing: beta\n", outcome.stdout)
        installs = [line for line in asked if "install" in line]
        self.assertEqual(len(installs), 1)
        self.assertTrue(installs[0].endswith(" beta"), installs[0])
        self.assertFalse([line for line in asked if "update" in line], "the package lists were good")

    def test_a_part_of_the_list_is_installed_without_the_others(self):
        self.installed()
        self.fake("apt-cache", "exit 0")
        self.fake("apt-get", "exit 0")
        for parts, wanted in ((("build",), " alpha"), (("check",), " beta"), (("build", "check"), " alpha beta"), ((), " alpha beta")):
            with self.subTest(parts=parts):
                self.asked.unlink(missing_ok=True)
                outcome, asked = self.run_setup(*parts)
                self.assertEqual(outcome.returncode, 0, outcome.stderr)
                self.assertTrue(asked[-1].endswith(f"--no-install-recommends{wanted}"), asked[-1])

    def test_a_part_that_is_not_in_the_list_is_refused(self):
        self.installed("alpha", "beta")
        outcome, asked = self.run_setup("biuld")
        self.assertEqual((outcome.returncode, asked), (2, []))
        self.assertIn("no part 'biuld'", outcome.stderr)

    def test_package_lists_are_fetched_when_they_do_not_know_a_package(self):
        self.installed()
        self.fake("apt-cache", "exit 100")
        self.fake("apt-get", "exit 0")
        outcome, asked = self.run_setup()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        steps = ["update" if "update" in line else "install" for line in asked if line.startswith("apt-get")]
        self.assertEqual(steps, ["update", "install"])

    def test_a_failure_to_install_is_a_failure(self):
        self.installed()
        self.fake("apt-cache", "exit 0")
        self.fake("apt-get", "exit 100")
        outcome, _ = self.run_setup()
        self.assertNotEqual(outcome.returncode, 0)


class CleanRoot(InAFolder):
    """tools/clean-root with a debootstrap, mounts and a chroot that only write down what they are asked."""

    def setUp(self):
        super().setUp()
        self.tools = self.folder / "bin"
        self.tools.mkdir()
        self.asked = self.folder / "asked"
        self.fake("debootstrap", 'mkdir -p "$3/etc" "$3/root" "$3/proc" "$3/dev"')
        self.fake("unshare", 'shift; exec "$@"')
        self.fake("chroot", 'mkdir -p "$1/usr/made"')
        self.fake("mount", "")
        self.fake("umount", "")
        self.fake("git", 'mkdir -p "$4"')

    def fake(self, name, body):
        path = self.tools / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> {self.asked}\n{body}\n')
        path.chmod(0o755)

    def run_in(self, *arguments):
        self.asked.unlink(missing_ok=True)
        outcome = subprocess.run([ROOT / "tools" / "clean-root", *arguments], capture_output=True, text=True, check=False,
                                 env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"})
        return outcome, self.asked.read_text().splitlines() if self.asked.exists() else []

    def test_the_system_is_prepared_once_and_every_check_gets_a_copy(self):
        systems = self.folder / "systems"
        outcome, asked = self.run_in(systems, "make", "test")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertTrue(asked[-1].endswith("/root/osler make test"), asked[-1])
        self.assertEqual(sum(line.startswith("debootstrap") for line in asked), 1)
        (systems / "root" / "left-behind").touch()
        outcome, asked = self.run_in(systems, "make", "test")
        self.assertFalse((systems / "root" / "left-behind").exists())
        self.assertEqual([line for line in asked if line.startswith("debootstrap") or "apt-get" in line], [])
        self.assertEqual(sum(line.startswith("git clone") for line in asked), 1)

    def test_a_check_may_go_on_where_the_last_one_ended(self):
        systems = self.folder / "systems"
        self.run_in(systems, "true")
        (systems / "root" / "left-behind").touch()
        outcome, asked = self.run_in("--again", systems, "true")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertTrue((systems / "root" / "left-behind").exists())
        self.assertEqual([line for line in asked if line.startswith("git")], [])

    def test_terminals_are_there(self):
        systems = self.folder / "systems"
        _, asked = self.run_in(systems, "true")
        self.assertIn(f"mount --rbind /dev {systems}/root/dev", asked)

    def test_a_bare_system_gets_what_is_brought_and_nothing_else(self):
        given = self.folder / "given"
        given.mkdir()
        (given / "file").touch()
        systems = self.folder / "systems"
        outcome, asked = self.run_in("--bare", "--bring", given, systems, "ls", "given")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertTrue((systems / "root" / "root" / "given" / "file").exists())
        self.assertEqual([line for line in asked if "apt-get" in line or line.startswith("git")], [])
        self.assertTrue(asked[-1].endswith("/root ls given"), asked[-1])

    def test_a_system_that_could_not_be_prepared_is_prepared_again(self):
        systems = self.folder / "systems"
        self.fake("debootstrap", 'mkdir -p "$3/etc"; exit 1')
        self.assertNotEqual(self.run_in(systems, "true")[0].returncode, 0)
        self.fake("debootstrap", 'mkdir -p "$3/etc" "$3/root" "$3/proc" "$3/dev"')
        outcome, asked = self.run_in(systems, "true")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(sum(line.startswith("debootstrap") for line in asked), 1)


class Make(InAFolder):
    """The Makefile with programs that only write down what they are asked."""

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "Makefile", self.folder / "Makefile")
        (self.folder / "tools").mkdir()
        self.asked = self.folder / "asked"
        self.write("tools/setup", "")
        self.write("bin/ninja", "echo 1.11.1")
        self.write("bin/cmake", "echo '-- Found fmt'; echo '-- Osler: fetching something large'")

    def write(self, name, body):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/bash\necho "{path.name} $*" >> {self.asked}\n{body}\n')
        path.chmod(0o755)

    def make(self, *words):
        outcome = subprocess.run(["make", "-C", self.folder, *words], capture_output=True, text=True, check=False,
                                 env={**os.environ, "MAKEFLAGS": "", "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})
        return outcome, self.asked.read_text().splitlines()

    def test_a_build_installs_what_building_takes(self):
        for words, wanted in (((), "setup build torch"), (("OSLER_WITH_TORCH=OFF",), "setup build")):
            self.asked.unlink(missing_ok=True)
            outcome, asked = self.make("build", *words)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertEqual([line.strip() for line in asked if line.startswith("setup")], [wanted])
            self.assertIn("-DOSLER_BUILD_TESTS=OFF", next(line for line in asked if line.startswith("cmake --preset")))

    def test_what_takes_long_while_configuring_is_said_and_the_rest_is_kept_in_a_log(self):
        outcome, _ = self.make("build")
        self.assertIn("Configuring build/release\nfetching something large\n", outcome.stdout)
        log = (self.folder / "build" / "configure-release.log").read_text()
        self.assertIn("-- Found fmt\n", log)
        self.assertIn("fetching", log)

    def test_a_failure_to_configure_is_shown_in_full_and_ends_the_build(self):
        self.write("bin/cmake", "echo '-- Found fmt'; echo 'CMake Error: no compiler' >&2; exit 1")
        outcome, asked = self.make("build")
        self.assertNotEqual(outcome.returncode, 0)
        self.assertIn("-- Found fmt\nCMake Error: no compiler\n", outcome.stdout)
        self.assertEqual([line for line in asked if line.startswith("cmake --build")], [])


class LintClang(unittest.TestCase):
    """Which files tools/lint-clang has read by clang-tidy."""

    def test_all_programs_are_tidied_and_tests_are_not(self):
        loader = importlib.machinery.SourceFileLoader("lint_clang", str(ROOT / "tools" / "lint-clang"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lint_clang", loader))
        sys.dont_write_bytecode = True  # nothing is left in the tree
        loader.exec_module(module)
        for file, wanted in (("src/run/run.cpp", True), ("bench/server_bench.cpp", True), ("fuzz/fuzz_reader.cpp", True),
                             ("population/draw.cpp", True), ("src/run/run_test.cpp", False), ("tests/program.cpp", False)):
            with self.subTest(file):
                self.assertEqual(module.is_tidied(ROOT / file), wanted)

    def test_what_is_built_on_demand_is_described_for_the_lint(self):
        options = set(re.findall(r"^option\((OSLER_BUILD_(?:BENCH|FUZZ)) ", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE))
        self.assertEqual(len(options), 2)
        lint = re.search(r"^lint:.*?(?=^\S+:)", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL).group()
        for option in options:
            self.assertIn(f"-D{option}=ON", lint)


class PythonEnvironment(InAFolder):
    """tools/python-environment where no registry answers."""

    def test_what_cannot_be_fetched_is_said_and_is_no_failure(self):
        named = self.folder / "wanted.txt"
        named.write_text("no-such-package-of-ours==1.0\n")
        nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_FIND_LINKS": "", "PIP_NO_INDEX": "0"}
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
        outcome = subprocess.run([ROOT / "tools" / "python-environment", python, self.folder / "made", named],
                                 capture_output=True, text=True, check=False, env={**os.environ, **nowhere})
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("pip could not fetch", outcome.stderr)
        self.assertIn("are passed over (wanted)", outcome.stderr)
        self.assertTrue((self.folder / "made" / "bin" / "python").exists())


if __name__ == "__main__":
    unittest.main()
