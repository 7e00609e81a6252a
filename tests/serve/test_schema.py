"""Requests generated from the interface's schema, valid and invalid, get an answer other than 500."""

from contextlib import suppress

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from tests.serve.conftest import QUICK, running

EXAMPLES = 60
"""Of each route: over a thousand in all."""


@pytest.fixture(scope="module")
def asking():
    with running(QUICK) as client:
        yield client


def check(asking, case):
    """Send a `case`, and check that the answer is one of motif's own."""
    answer = case.call(base_url=str(asking.base_url), timeout=120)
    shown = case.as_curl_command(), answer.status_code, answer.text[:300]
    assert answer.status_code < 500, shown
    assert answer.status_code != 400 or "\n" not in answer.text, shown


@pytest.mark.slow
def test_a_thousand_requests_from_the_schema_are_answered(asking, capfd):
    schemathesis = pytest.importorskip("schemathesis")
    from schemathesis import GenerationMode

    schema = schemathesis.openapi.from_url(f"{asking.base_url}/openapi.json")
    usual = settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    sent = 0
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 15
    for operation in operations:
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            cases = operation.as_strategy(generation_mode=mode)

            @usual
            @given(case=cases)
            def answered(case):
                nonlocal sent
                sent += 1
                check(asking, case)

            with suppress(Unsatisfiable):  # a route without parameters has no invalid input
                answered()
    assert sent >= 1000
    assert "error" not in capfd.readouterr().err
