#!/usr/bin/env python3
"""Plants each kind of breach in a small tree and sees that tools/lint-borders finds it."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[2] / "tools" / "lint-borders"

# A tree in good order: cli -> report -> run -> base, with one library in use.
GOOD = {
    "src/base/CMakeLists.txt": "osler_module(base LINK osler_isal)\n",
    "src/run/CMakeLists.txt": "osler_module(run DEPENDS base)\n",
    "src/report/CMakeLists.txt": "osler_module(report DEPENDS run LINK fmt::fmt)\n",
    "src/cli/CMakeLists.txt": "osler_module(cli DEPENDS report LINK fmt::fmt)\n",
    "include/osler/base/result.h": "// What a result is.\n#pragma once\n#include <variant>\n",
    "include/osler/run/run.h": '// What a run is.\n#pragma once\n#include "osler/base/result.h"\n',
    "src/base/crc.h": "// What a checksum is.\n#pragma once\n",
    "src/base/crc.cpp": '// How a checksum is made.\n#include "base/crc.h"\n\n#include <isa-l/crc.h>\n#include <sys/stat.h>\n',
    "src/report/text.cpp": '// How a text is made.\n#include <fmt/format.h>\n\n#include "osler/run/run.h"\n#include "base/crc.h"\n',
    "src/report/text_test.cpp": '// What a text says.\n#include <gtest/gtest.h>\n',
    "src/cli/main.cpp": '// The program, which may print.\n#include <cstdio>\nint main() { printf("osler"); }\n',
}


class Borders(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="osler-lint-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in GOOD.items():
            self.plant(name, text)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def lint(self):
        return subprocess.run([sys.executable, LINT, "--root", self.root], capture_output=True, text=True, check=False)

    def assert_rejected(self, name, text, *words):
        """Plants a file and expects one breach that names it and says `words`."""
        self.plant(name, text)
        outcome = self.lint()
        self.assertEqual(outcome.returncode, 1, outcome.stdout)
        breaches = [line for line in outcome.stderr.splitlines() if not line.startswith("lint:")]
        self.assertEqual(len(breaches), 1, outcome.stderr)
        self.assertTrue(breaches[0].startswith(f"{name}:"), breaches[0])
        for word in words:
            self.assertIn(word, breaches[0])

    def test_a_tree_in_good_order_passes(self):
        outcome = self.lint()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("4 modules", outcome.stdout)

    def test_an_include_against_the_direction(self):
        self.assert_rejected("src/base/up.cpp", '// It looks up.\n#include "osler/run/run.h"\n', "'run' is not in its DEPENDS")

    def test_a_public_include_against_the_direction(self):
        self.plant("include/osler/report/render.h", "// What rendering is.\n#pragma once\n")
        self.assert_rejected("include/osler/run/up.h", '// Looks up, too.\n#pragma once\n#include "osler/report/render.h"\n',
                             "'report' is not in its DEPENDS")

    def test_a_private_header_in_a_public_one(self):
        self.assert_rejected("include/osler/run/leak.h", '// A leak here.\n#pragma once\n#include "base/crc.h"\n', "private")

    def test_a_library_that_is_not_linked(self):
        self.assert_rejected("src/run/text.cpp", "// Formats a run.\n#include <fmt/format.h>\n", "fmt::fmt in LINK")

    def test_a_library_in_a_public_header(self):
        self.assert_rejected("include/osler/report/leak.h", "// A leak here.\n#pragma once\n#include <fmt/format.h>\n",
                             "may not show")

    def test_a_library_nobody_knows(self):
        self.assert_rejected("src/run/new.cpp", "// Something new here.\n#include <boost/any.hpp>\n", "no library")

    def test_libtorch_outside_its_module(self):
        self.assert_rejected("src/run/tensor.cpp", "// Uses a tensor.\n#include <torch/torch.h>\n", "LibTorch")

    def test_a_test_library_outside_tests(self):
        self.assert_rejected("src/run/check.cpp", "// Checks at work.\n#include <gtest/gtest.h>\n", "tests only")

    def test_an_include_without_folder(self):
        self.assert_rejected("src/base/near.cpp", '// Looks beside itself.\n#include "crc.h"\n', "lacks its folder")

    def test_an_include_of_nothing(self):
        self.assert_rejected("src/run/lost.cpp", '// Looks for nothing.\n#include "osler/run/none.h"\n', "does not exist")

    def test_how_sources_are_compiled_opens_no_border(self):
        self.plant("src/run/CMakeLists.txt", "osler_module(run DEPENDS base CATALOGUE entries APART run.cpp SOURCES x.cpp)\n")
        outcome = self.lint()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_a_circle_of_modules(self):
        self.plant("src/base/CMakeLists.txt", "osler_module(base DEPENDS cli LINK osler_isal)\n")
        outcome = self.lint()
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("circle", outcome.stderr)

    def test_a_border_that_may_never_open(self):
        self.plant("src/formats/CMakeLists.txt", "osler_module(formats DEPENDS run)\n")
        self.assert_rejected("src/diagnosis/CMakeLists.txt", "osler_module(diagnosis DEPENDS formats)\n", "never")

    def test_a_file_without_opening_sentence(self):
        self.assert_rejected("src/run/mute.cpp", "int number = 3;\n", "open with a sentence")

    def test_a_file_that_is_too_long(self):
        self.assert_rejected("src/run/long.cpp", "// A long story.\n" + "int a();\n" * 600, "601 lines")

    def test_a_name_that_says_nothing(self):
        self.assert_rejected("src/run/text_utils.cpp", "// Some text things.\n", "utils")

    def test_unfinished_work(self):
        self.assert_rejected("src/run/later.cpp", "// What comes later.\n\n// TO" "DO: everything\n", "finish it")

    def test_a_library_that_prints(self):
        self.assert_rejected("src/run/loud.cpp", '// A loud one.\nvoid f() { std::cerr << "x"; }\n', "never prints")

    def test_a_header_without_guard(self):
        self.assert_rejected("src/run/twice.h", "// Comes in twice.\n", "#pragma once")

    def test_a_macro(self):
        self.assert_rejected("src/run/macro.cpp", "// Has a macro.\n#define TWICE(x) (2 * (x))\n", "TWICE")


if __name__ == "__main__":
    unittest.main()
