#!/usr/bin/env python3
"""A log diagnosed from Python: diagnose_log.py [LOG]."""

import sys
from pathlib import Path

import osler

log = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "logs" / "sick.csv"
report = osler.diagnose(log)
print(report.status, "-", report.headline)
for finding in report.findings:
    print(f"  {finding.severity} since step {finding.first_step}: {finding.summary}")
for remedy in report.remedies:
    print(f"  do: {remedy.text}")
