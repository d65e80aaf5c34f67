"""Starts ministack with what it lacks of AWS and the contract suite meets; README.md has the reasons."""

import json
import os
import re
import threading
import uuid
from contextvars import ContextVar
from email.header import Header

from ministack import app as server
from ministack.core import iam_actions, iam_evaluator, lambda_runtime
from ministack.core.lambda_runtime import ProvidedWorker
from ministack.core.responses import error_response_json
from ministack.services import cognito, lambda_svc, s3, sts
from ministack.services.cloudformation import provisioners

# API Gateway's limit for the request line and the headers.
MAX_HEADER_BYTES = 10_240

# The tenant of the invocation that a thread serves.
current_tenant = ContextVar("tenant", default=None)


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


def keep_tenants_apart(invoke):
    """Has Lambda refuse an invocation without a tenant where it keeps tenants apart, and one with a tenant elsewhere."""

    async def invoke_for_tenant(name, event, headers, *args):
        tenant = headers.get("x-amz-tenant-id")
        is_isolated = "TenancyConfig" in lambda_svc._functions.get(name, {}).get("config", {})
        if is_isolated != (tenant is not None):
            what = "Add a valid" if is_isolated else "Remove the"
            return error_response_json("InvalidParameterValueException", f"{what} tenant ID in your request.", 400)
        current_tenant.set(tenant)
        return await invoke(name, event, headers, *args)

    return invoke_for_tenant


def key_by_tenant(key_of):
    """Has each tenant of a function get execution environments of its own."""
    return lambda *args: f"{key_of(*args)}:{current_tenant.get()}"


def tell_tenant(build_handler_class):
    """Has the Runtime API tell an execution environment which tenant it serves."""

    def build(worker, *args):
        base = build_handler_class(worker, *args)

        class Handler(base):
            def send_header(self, name, value):
                super().send_header(name, value)
                if name == "Lambda-Runtime-Aws-Request-Id" and worker.tenant is not None:
                    super().send_header("Lambda-Runtime-Aws-Tenant-Id", worker.tenant)

        return Handler

    return build


def remember_tenant(init):
    """Has an execution environment be of the tenant that it is made for."""

    def init_worker(worker, *args):
        init(worker, *args)
        worker.tenant = current_tenant.get()

    return init_worker


def keep_properties(create):
    """Has CloudFormation pass on the properties of functions that it drops."""

    def create_function(logical_id, props, stack_name):
        name, attributes = create(logical_id, props, stack_name)
        function = lambda_svc._functions[name]
        function["recursive_loop"] = props.get("RecursiveLoop")
        if "TenancyConfig" in props:
            function["config"]["TenancyConfig"] = props["TenancyConfig"]
        return name, attributes

    return create_function


def issuer_of(pool_id):
    """Returns where functions reach what a user pool publishes: its address in AWS would lead there."""
    return f"http://127.0.0.1:{os.environ['GATEWAY_PORT']}/{pool_id}"


def add_provider_url(attributes_of):
    """Has user pools name their issuer to the template."""
    return lambda pool_id: {**attributes_of(pool_id), "ProviderURL": issuer_of(pool_id)}


def publish_issuer(configuration_of):
    """Has user pools publish the issuer that the template names, and where ministack really is, without TLS."""

    def configuration(pool_id, region, host, scheme):
        status, headers, body = configuration_of(pool_id, region, host, "http")
        return status, headers, json.dumps({**json.loads(body), "issuer": issuer_of(pool_id)}).encode()

    return configuration


def sign_as_issuer(sign):
    """Has the tokens of user pools be of that issuer."""

    def sign_claims(claims, pool_id="", use=""):
        return sign({**claims, "iss": issuer_of(pool_id)} if pool_id else claims, pool_id, use)

    return sign_claims


def create_login_style(logical_id, props, stack_name):
    """Creates a style of login pages: nothing but its id, and that the pool has the client."""
    pool = cognito._user_pools.get(props["UserPoolId"], {})
    if props["ClientId"] not in pool.get("_clients", {}):
        raise ValueError(f"{logical_id}: the user pool {props['UserPoolId']} has no client {props['ClientId']}.")
    style = str(uuid.uuid4())
    return f"{props['UserPoolId']}|{style}", {"ManagedLoginBrandingId": style}


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


def list_cookies(execute):
    """Has API Gateway pass cookies on apart from the headers."""

    def execute_function(record, event):
        headers = event.get("headers") if isinstance(event, dict) and event.get("version") == "2.0" else None
        if headers and "cookie" in headers:
            event["cookies"] = headers.pop("cookie").split("; ")
        return execute(record, event)

    return execute_function


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


handlers = provisioners._RESOURCE_HANDLERS
handlers["AWS::Cognito::ManagedLoginBranding"] = {"create": create_login_style}
handlers["AWS::Lambda::Function"]["create"] = keep_properties(handlers["AWS::Lambda::Function"]["create"])
provisioners._cognito_user_pool_attributes = add_provider_url(provisioners._cognito_user_pool_attributes)
cognito.well_known_openid_configuration = publish_issuer(cognito.well_known_openid_configuration)
cognito._signed_jwt = sign_as_issuer(cognito._signed_jwt)
lambda_svc._invoke = keep_tenants_apart(lambda_svc._invoke)
lambda_svc._execute_function_with_config_scope = list_cookies(lambda_svc._execute_function_with_config_scope)
lambda_runtime._worker_key = key_by_tenant(lambda_runtime._worker_key)
ProvidedWorker.__init__ = remember_tenant(ProvidedWorker.__init__)
ProvidedWorker._build_handler_class = tell_tenant(keep_streamed_bytes(ProvidedWorker._build_handler_class))
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
