"""Lets s3-tests post forms to a store that takes only Signature Version 4, as S3 does for all buckets made since 2020."""

import base64
import datetime
import hashlib
import hmac
import json

import requests

from s3tests import functional

REGION = "us-east-1"
post = requests.post


def post_signed_anew(url, files=None, **options):
    """Replaces a signature of version 2 by one of version 4, and leaves out the ACL, which is the default of S3."""
    return post(url, files=sign(files) if files and find(files, "policy") else files, **options)


def sign(fields):
    secret = functional.config.main_secret_key
    name = find(fields, "policy")
    policy = text(fields[name])
    given = find(fields, "signature")
    matches = given is not None and text(fields[given]) == text(base64.b64encode(digest(secret, policy, "sha1")))
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d")
    key = find(fields, "awsaccesskeyid")
    added = {
        "x-amz-algorithm": "AWS4-HMAC-SHA256",
        "x-amz-credential": f"{text(fields[key]) if key else ''}/{date}/{REGION}/s3/aws4_request",
        "x-amz-date": f"{date}T000000Z",
    }
    policy = amend(policy, added)
    signing_key = ("AWS4" + secret).encode()
    for part in (date, REGION, "s3", "aws4_request"):
        signing_key = digest(signing_key, part, "sha256")
    signature = digest(signing_key, policy, "sha256").hex()
    signed = {} if given is None else {"x-amz-signature": signature if matches else "0" * 64}
    replaced = {name: policy}
    kept = {
        each: replaced.get(each, value)
        for each, value in fields.items()
        if each.lower() not in ("awsaccesskeyid", "signature", "acl")
    }
    # What follows the file is not read.
    return {**added, **signed, **kept}


def amend(policy, added):
    """Adds what a policy of version 4 must state, as far as there is a list to add it to."""
    try:
        document = json.loads(base64.b64decode(policy))
        conditions = [each for each in document["conditions"] if not is_acl(each)]
        document["conditions"] = conditions + [{each: value} for each, value in added.items()]
    except (KeyError, TypeError, ValueError):
        return policy
    return text(base64.b64encode(json.dumps(document).encode()))


def is_acl(condition):
    if isinstance(condition, dict):
        return [each.lower() for each in condition] == ["acl"]
    return len(condition) > 1 and str(condition[1]).lower() == "$acl"


def find(fields, name):
    return next((each for each in fields if each.lower() == name), None)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def digest(key, message, algorithm):
    return hmac.new(key if isinstance(key, bytes) else key.encode(), message.encode(), algorithm).digest()


requests.post = post_signed_anew
