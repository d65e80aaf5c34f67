"""Checks of Schemathesis that know the document's `x-refusals`."""

import schemathesis


@schemathesis.check
def valid_request_accepted(ctx, response, case):
    """A request that fits the document is refused only for a reason that its operation documents as beyond any schema."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    # An instant conversion responds with what a task would report as its failure, such as a host that does not exist.
    is_instant = case.operation.path.startswith("/v1/instant/")
    if is_instant and response.status_code == 422 and response.json().get("errorCode") == "processing_failed":
        return
    documented = case.operation.definition.raw["responses"].get("400", {}).get("x-refusals", [])
    if response.json().get("reason") not in documented:
        raise AssertionError(f"A valid request was refused: {response.text[:500]}")
