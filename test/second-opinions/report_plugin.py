"""Writes the outcome of each test of pytest on a line of its own."""

import os


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        with open(os.environ["LATHE_REPORT"], "a") as file:
            file.write(f"{report.nodeid.split('::')[-1]} {report.outcome}\n")
