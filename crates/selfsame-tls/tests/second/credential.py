"""Keys, signatures, and the paper's credential as text."""

import base64
import json
from datetime import datetime

import ecdsa
from tlslite.utils.keyfactory import parsePEMKey
from tlslite.utils.python_ecdsakey import Python_ECDSAKey
from tlslite.utils.python_eddsakey import Python_EdDSAKey
from tlslite.utils.python_rsakey import Python_RSAKey

from messages import Broken

ED25519, ECDSA, RSA = 0x0807, 0x0403, 0x0804
SCHEMES = [ED25519, ECDSA, RSA]
PROOFS = {
    ED25519: "Ed25519VerificationKey2023",
    ECDSA: "EcdsaSecp256r1VerificationKey2023",
    RSA: "RsaVerificationKey2023",
}
CONTEXT = "https://www.w3.org/2018/credentials/v2"


class Refused(Exception):
    """The peer is not who it says, or not one who is expected."""


def private_key(pem):
    return parsePEMKey(pem, private=True, implementations=["python"])


def scheme_of(key):
    kinds = {Python_EdDSAKey: ED25519, Python_ECDSAKey: ECDSA}
    return kinds.get(type(key), RSA)


def sign(key, message):
    return bytes(key.hashAndSign(bytearray(message), **_options(scheme_of(key))))


def verify(key, scheme, signature, message):
    """Whether the key, which must be of the scheme's kind, has signed."""
    if scheme != scheme_of(key):
        raise Refused("a scheme that the key is not for")
    if not key.hashAndVerify(bytearray(signature), bytearray(message), **_options(scheme)):
        raise Refused("a signature that does not hold")


def _options(scheme):
    if scheme == ED25519:
        return {}
    if scheme == ECDSA:
        return {"hAlg": "sha256"}
    return {"rsaScheme": "PSS", "hAlg": "sha256", "sLen": 32}


def public_key(jwk):
    """The key of a JSON Web Key (RFC 7518, RFC 8037)."""

    def octets(name):
        text = jwk[name]
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    def number(name):
        return int.from_bytes(octets(name), "big")

    if jwk["kty"] == "OKP":
        return Python_EdDSAKey(ecdsa.VerifyingKey.from_string(octets("x"), ecdsa.Ed25519))
    if jwk["kty"] == "EC":
        return Python_ECDSAKey(number("x"), number("y"), "NIST256p")
    return Python_RSAKey(number("n"), number("e"))


def authentication_key(document, did):
    """The first key that a DID document lists for `authentication`."""
    if document["id"] != did:
        raise Refused("the document of another DID")
    entry = document["authentication"][0]
    if isinstance(entry, str):
        methods = document["verificationMethod"]
        entry = next(method for method in methods if method["id"] == entry)
    return public_key(entry["publicKeyJwk"])


def _text(vc, with_proof):
    """As cJSON prints it: a tab for each level and after each colon, a member a line."""

    def write(value, indent):
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
        lines = [f'{indent}\t"{name}":\t{write(member, indent + chr(9))}' for name, member in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}"

    kept = {name: value for name, value in vc.items() if with_proof or name != "proof"}
    return write(kept, "").encode("utf-8")


def issue(plan, subject):
    """A credential about `subject`, signed by the plan's issuer."""
    key = private_key(plan["key"])
    vc = {
        "@context": CONTEXT,
        "id": plan["id"],
        "type": "VerifiableCredential",
        "issuer": plan["did"],
        "issuanceDate": plan["issued"],
        "expirationDate": plan["expires"],
        "credentialSubject": {"id": subject},
    }
    signature = sign(key, _text(vc, False))
    vc["proof"] = {
        "type": PROOFS[scheme_of(key)],
        "created": " " + plan["issued"],
        "proofPurpose": "assertionMethod",
        "verificationMethod": plan["method"],
        "proofValue": base64.b64encode(signature).decode("ascii"),
    }
    return _text(vc, True)


MEMBERS = {
    "": ["@context", "id", "type", "issuer", "issuanceDate", "expirationDate", "credentialSubject", "proof"],
    "credentialSubject": ["id"],
    "proof": ["type", "created", "proofPurpose", "verificationMethod", "proofValue"],
}


def check(text, issuers, now):
    """The subject of a credential that a trusted issuer signed and whose time is now."""
    try:
        vc = json.loads(text)
    except ValueError as error:
        raise Broken("a credential that is not JSON") from error
    parts = {"": vc, "credentialSubject": vc.get("credentialSubject"), "proof": vc.get("proof")}
    for name, part in parts.items():
        if not isinstance(part, dict) or list(part) != MEMBERS[name]:
            raise Broken("a credential with other members than the paper's")
    if vc["@context"] != CONTEXT or vc["type"] != "VerifiableCredential":
        raise Broken("a credential of another kind")
    proof = vc["proof"]
    key = issuers.get(vc["issuer"], {}).get(proof["verificationMethod"])
    if key is None:
        raise Refused("an issuer that is not trusted")
    key = public_key(key)
    scheme = scheme_of(key)
    if proof["type"] != PROOFS[scheme] or proof["proofPurpose"] != "assertionMethod":
        raise Refused("a proof of another kind than its key")
    verify(key, scheme, base64.b64decode(proof["proofValue"], validate=True), _text(vc, False))
    issued, expires, now = (datetime.fromisoformat(time.replace("Z", "+00:00")) for time in (vc["issuanceDate"], vc["expirationDate"], now))
    if not issued <= now < expires:
        raise Refused("a credential out of its time")
    return vc["credentialSubject"]["id"]
