"""The Python package sd-jwt at work: one job in JSON on standard input, its answer in JSON on standard output."""

import json
import sys

from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK
from sd_jwt.common import SDObj
from sd_jwt.holder import SDJWTHolder
from sd_jwt.issuer import SDJWTIssuer
from sd_jwt.verifier import SDJWTVerifier


def public(key):
    return key.export_public(as_dict=True)


def hidden(claims, names):
    """The claims, each of which can be kept back if its name is among these, however deep it stands."""
    if isinstance(claims, list):
        return [hidden(item, names) for item in claims]
    if not isinstance(claims, dict):
        return claims
    named = {}
    for name, value in claims.items():
        named[SDObj(name) if name in names else name] = hidden(value, names)
    return named


def issue(job):
    issuer, holder = (JWK.generate(kty="EC", crv="P-256") for _ in range(2))
    header = {"typ": "dc+sd-jwt", "kid": job["kid"]}
    made = SDJWTIssuer(
        hidden(job["claims"], job["hide"]),
        issuer,
        holder,
        add_decoy_claims=True,
        extra_header_parameters=header,
    )
    wallet = SDJWTHolder(made.sd_jwt_issuance)
    wallet.create_presentation(
        job["disclose"], job["nonce"], job["aud"], holder
    )
    return {"presentation": wallet.sd_jwt_presentation, "issuer": public(issuer)}


def verify(job):
    verifier = SDJWTVerifier(
        job["presentation"],
        lambda issuer, header: JWK(**job["issuer"]),
        job["aud"],
        job["nonce"],
    )
    return {"claims": verifier.get_verified_payload()}


def key(job):
    made = JWK.generate(kty="EC", crv="P-256", kid="enc-1", alg="ECDH-ES", use="enc")
    return {"public": public(made), "private": made.export(as_dict=True)}


def decrypt(job):
    token = JWE()
    token.deserialize(job["token"], JWK(**job["private"]))
    return {"content": token.payload.decode(), "header": token.jose_header}


def main():
    job = json.load(sys.stdin)
    try:
        does = {"issue": issue, "verify": verify, "key": key, "decrypt": decrypt}
        answer = does[job["do"]](job)
    except Exception as error:
        answer = {"refused": repr(error)}
    json.dump(answer, sys.stdout)


main()
