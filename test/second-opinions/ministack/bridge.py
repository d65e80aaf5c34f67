"""Starts ministack with what it lacks of AWS and the contract suite meets; README.md has the reasons."""

import re
import threading
from email.header import Header

from ministack import app as server
from ministack.core import iam_actions, iam_evaluator
from ministack.core.lambda_runtime import ProvidedWorker
from ministack.services import lambda_svc, s3, sts

# API Gateway's limit for the request line and the headers.
MAX_HEADER_BYTES = 10_240


def keep_streamed_bytes(build_handler_class):
    """Has the Runtime API pass on a streamed response as it came, in place of parsing it as one JSON text."""

    def build(worker, generation, pending):
        base = build_handler_class(worker, generation, pending)

        class Handler(base):
            def do_POST(self):
                if self.headers.get("Lambda-Runtime-Function-Response-Mode") != "streaming":
                    return super().do_POST()
                body, error = self.read_stream()
                request_id = self.path.split("/")[-2]
                kind, result = ("error", error) if error else ("response", body)
                accepted = worker._record_result(generation, request_id, kind, result)
                self._respond(202 if accepted else 400)

            def read_stream(self):
                """Returns the body, and the error that its trailers report where they do."""
                chunks = []
                while size := int(self.rfile.readline(), 16):
                    chunks.append(self.rfile.read(size))
                    self.rfile.readline()
                trailers = b"".join(iter(lambda: self.rfile.readline().strip(), b"")).decode()
                return b"".join(chunks), {"errorType": "Runtime.StreamError", "errorMessage": trailers} if trailers else None

        return Handler

    return build


def read_names_as_utf8(parse):
    """Has forms read the names of files as browsers send them."""

    def parse_form(content_type, body):
        return [
            (name, filename and filename.encode("latin-1").decode(), headers, value)
            for name, filename, headers, value in parse(content_type, body)
        ]

    return parse_form


def encode_metadata(build):
    """Has S3 return metadata in other scripts than ASCII by RFC 2047, as a header can carry them."""

    def encoded(name, value):
        is_plain = not name.startswith("x-amz-meta-") or value.isascii()
        return value if is_plain else Header(value, "utf-8").encode(linesep="")

    def build_record(body, headers, *args, **kwargs):
        return build(body, {name: encoded(name, value) for name, value in headers.items()}, *args, **kwargs)

    return build_record


def assume_tls(app):
    """Has requests count as those of TLS, which policies of the template demand."""

    async def assuming(scope, receive, send):
        await app({**scope, "scheme": "https"}, receive, send)

    return assuming


def limit_headers(app):
    """Has API Gateway refuse headers that are too long for it."""

    async def limited(scope, receive, send):
        if scope["type"] == "http" and header_bytes(scope) > MAX_HEADER_BYTES and is_api(scope):
            body = b'{"message":"Request Header Fields Too Large"}'
            await send({"type": "http.response.start", "status": 431, "headers": [(b"content-type", b"application/json")]})
            await send({"type": "http.response.body", "body": body})
            return
        await app(scope, receive, send)

    return limited


def authorize_batches(extract):
    """Has a batch of messages need the permission of a single one: those of SQS have no actions of their own."""

    def extract_action(service, *args):
        action = extract(service, *args)
        return action.removesuffix("Batch") if service == "sqs" and action else action

    return extract_action


def one_at_a_time(function):
    """Has one thread after the other do what must not be done by two at once."""
    lock = threading.Lock()

    def locked(*args):
        with lock:
            return function(*args)

    return locked


def print_refusals(enforce):
    """Has the log tell what a role does not allow, since not every response does."""

    def enforce_policies(access_key_id, action, service, region, resource_arn="*", *args, **kwargs):
        denied = enforce(access_key_id, action, service, region, resource_arn, *args, **kwargs)
        if isinstance(denied, iam_evaluator.EvalResult):
            print(f"refused: {denied.principal_arn} may not {action} on {resource_arn}", flush=True)
        return denied

    return enforce_policies


def print_logs(emit):
    """Has the log of ministack hold what functions print, whoever invoked them."""

    def emit_logs(func, request_id, log_text, *args, **kwargs):
        if log_text:
            print(log_text, flush=True)
        return emit(func, request_id, log_text, *args, **kwargs)

    return emit_logs


def header_bytes(scope):
    line = len(scope["method"]) + len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) for name, value in scope["headers"])


def is_api(scope):
    return b".execute-api." in dict(scope["headers"]).get(b"host", b"")


ProvidedWorker._build_handler_class = keep_streamed_bytes(ProvidedWorker._build_handler_class)
s3._parse_multipart_form = read_names_as_utf8(s3._parse_multipart_form)
s3._build_object_record = encode_metadata(s3._build_object_record)
iam_actions.extract_iam_action = authorize_batches(iam_actions.extract_iam_action)
sts.register_session = one_at_a_time(sts.register_session)
iam_evaluator.enforce = print_refusals(iam_evaluator.enforce)
lambda_svc._emit_lambda_logs = print_logs(lambda_svc._emit_lambda_logs)
# The template names the API of WebSockets by its address in AWS, to which ministack redirects its functions.
server._EXECUTE_API_RE = re.compile(r"^([a-f0-9]{8})\.execute-api\.(?:localhost|[a-z0-9-]+\.amazonaws\.com)(?::\d+)?$")
# Another of its paths is /health, which the API has as well.
server._HEALTH_PATHS = ("/_ministack/health",)
server.app = limit_headers(assume_tls(server.app))
server.main()
