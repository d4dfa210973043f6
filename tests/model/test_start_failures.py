"""Claims about what programs say whose start failed, or that had no network."""

import pytest

from pytest_hookharness.model.start_failures import NO_NETWORK


@pytest.mark.parametrize(
    ("said", "of_network"),
    [
        ("npm error code ENOTCACHED", True),
        ("getaddrinfo ENOTFOUND registry", True),
        ("curl: (6) Could not resolve host: example.org", True),
        ("ModuleNotFoundError: No module named 'rules'", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'rules.json'", False),
    ],
)
def test_what_tells_of_a_missing_network(said, of_network):
    """A missing module or file is not taken for a missing network."""
    assert bool(NO_NETWORK.search(said)) is of_network
