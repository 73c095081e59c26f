#!/usr/bin/env python3
"""The guide to the monitor names what the headers have: every option and call, and the limits it works within."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "monitor.md").read_text()
HEADER = (ROOT / "include" / "osler" / "torch" / "monitor.h").read_text()


def words(text):
    """What stands between back quotes."""
    return re.findall(r"`([^`\n]+)`", text)


def body(kind, name):
    """What is between the braces of a struct or the public part of a class."""
    found = re.search(rf"^{kind} {name} {{\n(.*?)^}};", HEADER, re.M | re.S)
    return found.group(1).split("\n private:")[0]


def constant(path, name):
    found = re.search(rf"\b{name} = ([0-9']+)", (ROOT / path).read_text())
    return int(found.group(1).replace("'", ""))


class Guide(unittest.TestCase):
    def test_it_has_every_option_and_no_other(self):
        lines = [line.split("///")[0] for line in body("struct", "MonitorOptions").splitlines()]
        lines = [line.split("//")[0] for line in lines]
        options = set(re.findall(r"(\w+)(?: = [^;]+)?;", "\n".join(lines)))
        table = re.search(r"^\| option \|.*?\n\n", GUIDE, re.M | re.S).group(0)
        named = {word for row in table.strip().splitlines()[2:] for word in words(row.split("|")[1])}
        self.assertGreater(len(options), 20)
        self.assertEqual(named, options)

    def test_it_names_every_call_and_no_other(self):
        code = re.sub(r"//.*", "", body("class", "Monitor"))
        calls = set(re.findall(r"\b([a-z_]+)\([^;]*\)(?: const)?;", code)) - {"operator"}
        self.assertGreater(len(calls), 20)
        for call in sorted(calls):
            self.assertTrue(re.search(rf"\b{call}\b", GUIDE), f"{call}() is not in the guide")
        for call in re.findall(r"\bmonitor\.(\w+)\(", GUIDE):
            self.assertIn(call, calls)

    def test_its_limits_are_those_of_the_code(self):
        spending, ledger = "src/monitor/spending.h", "src/monitor/parameter_ledger.h"
        ordinals, numbers = {3: "third"}, {8: "eight"}
        first, every = constant(spending, "kFirstSteps"), constant(spending, "kEarlyEvery")
        said = [
            f"of the first {first} steps every {ordinals[every]}",
            f"until that has taken {constant(spending, 'kEarlySeconds')} seconds",
            f"the time of {constant(spending, 'kEarlyInSteps')} steps, whichever",
            f"after {first} and {2 * first} steps and after the first validation",
            f"looks at the first {constant('src/monitor/batch_pace.h', 'kFirst')} batches",
            f"{numbers[constant('src/monitor/batch_pace.h', 'kInARow')]} in a row",
            f"tensors of up to {constant(ledger, 'kSmall')} elements",
            f"looks at up to {constant(ledger, 'kUnguarded'):,} elements",
            f"changed it for {constant('src/monitor/step_record.h', 'kStepsToKnow')} steps",
        ]
        flat = " ".join(GUIDE.split())
        for each in said:
            self.assertTrue(each in flat, f"the guide does not say: {each}")

    def test_it_says_the_usual_budget(self):
        share = re.search(r"double budget = ([0-9.]+);", HEADER).group(1)
        self.assertTrue(f"(default {share})" in GUIDE and f"{100 * float(share):.0f} % by default" in GUIDE)


if __name__ == "__main__":
    unittest.main()
