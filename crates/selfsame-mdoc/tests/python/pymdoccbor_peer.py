"""Issues and verifies with pymdoccbor: a job as JSON in, an answer as JSON out, bytes in hexadecimal."""

import base64
import datetime
import json
import sys
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from pycose.keys import EC2Key
from pymdoccbor.mdoc.issuer import MdocCborIssuer
from pymdoccbor.mdoc.verifier import MdocCbor


def verify(job):
    mdoc = MdocCbor()
    mdoc.loads(bytes.fromhex(job["response"]))
    authority = x509.load_der_x509_certificate(bytes.fromhex(job["authority"]))
    if not mdoc.verify(trusted_root_certs=[authority], verify_hashes=True):
        return {"refused": "not valid"}
    return {"elements": plain(mdoc.disclosure_map[job["namespace"]])}


def issue(job):
    key = serialization.load_der_private_key(bytes.fromhex(job["key"]), None)
    numbers = key.private_numbers()
    whole = lambda number: number.to_bytes(32, "big")
    private = {
        "KTY": "EC2",
        "CURVE": "P_256",
        "ALG": "ES256",
        "D": whole(numbers.private_value),
        "X": whole(numbers.public_numbers.x),
        "Y": whole(numbers.public_numbers.y),
        "KID": b"signer",
    }
    coordinate = lambda name: base64.urlsafe_b64decode(job["device"][name] + "==")
    device = {"KTY": "EC2", "CURVE": "P_256", "X": coordinate("x"), "Y": coordinate("y")}
    day = lambda seconds: datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).date().isoformat()
    with tempfile.NamedTemporaryFile(suffix=".der") as certificate:
        certificate.write(bytes.fromhex(job["certificate"]))
        certificate.flush()
        issuer = MdocCborIssuer(private_key=private, alg="ES256")
        issuer.new(
            doctype=job["type"],
            data={job["namespace"]: job["elements"]},
            validity={"issuance_date": day(job["signed"]), "expiry_date": day(job["until"] + 86_400)},
            devicekeyinfo=device,
            cert_path=certificate.name,
        )
    return {"response": issuer.dump().hex()}


def plain(value):
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if isinstance(value, (str, int, bool)) else str(value)


def main():
    job = json.load(sys.stdin)
    try:
        said = {"verify": verify, "issue": issue}[job["do"]](job)
    except Exception as error:  # Whether the job fails is part of the answer.
        said = {"refused": repr(error)}
    json.dump(said, sys.stdout)


main()
