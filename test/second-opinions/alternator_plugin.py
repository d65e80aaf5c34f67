"""Lets the tests of Alternator run without a ScyllaDB, of which their set-up asks for users and settings."""

import os
import sys
import types

import pytest


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


class NoHostAvailable(Exception):
    pass


def no_cluster(*_arguments, **_options):
    raise NoHostAvailable


@pytest.fixture(scope="session")
def host():
    return "127.0.0.1"


module("cassandra")
module("cassandra.auth", PlainTextAuthProvider=lambda **_options: None)
module("cassandra.cluster", Cluster=no_cluster, NoHostAvailable=NoHostAvailable)
# pytest finds it by its file, which it would load otherwise.
module("test.conftest", __file__=os.path.abspath("test/conftest.py"), dynamic_scope=lambda: "session")
module("test.cqlpy")
module("test.cqlpy.conftest", host=host)
module("test.pylib.driver_utils", safe_driver_shutdown=lambda _driver: None)
