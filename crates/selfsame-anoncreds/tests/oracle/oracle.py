"""Answers for the published library: one JSON object a line in, one a line out.

In:  {"call": NAME, "arguments": {…}, "repeat": 1, "warm": false}
Out: {"answer": …, "wall_ns": […], "cpu_ns": […]}  or  {"error": TEXT}

Every message travels as the JSON text it is, so nothing is lost on the way. Each run of a call parses its messages
and writes its results again, and both are in its times. A warm call finds what the caller keeps (schemas, definitions,
private keys) parsed already. CPU time is the whole process's, all threads.
"""

import ctypes
import ctypes.util
import json
import random
import sys
import time

import anoncreds as wheel
from anoncreds import bindings

KEPT = {"Schema", "CredentialDefinition", "CredentialDefinitionPrivate", "KeyCorrectnessProof",
        "RevocationRegistryDefinition", "RevocationRegistryDefinitionPrivate"}
LOADED = {}
WARM = False


def load(kind, text):
    """The library's object of this kind from JSON text; None stays None."""
    if text is None:
        return None
    if WARM and kind in KEPT:
        if (kind, text) not in LOADED:
            LOADED[kind, text] = getattr(wheel, kind).load(text)
        return LOADED[kind, text]
    return getattr(wheel, kind).load(text)


def load_all(kind, texts):
    return {name: load(kind, text) for name, text in (texts or {}).items()}


def schema(a):
    return wheel.Schema.create(a["name"], a["version"], a["issuer_id"], a["attributes"]).to_json()


def credential_definition(a):
    made = wheel.CredentialDefinition.create(
        a["schema_id"], load("Schema", a["schema"]), a["issuer_id"], a["tag"], "CL",
        support_revocation=a["revocation"])
    return [part.to_json() for part in made]


def offer(a):
    proof = load("KeyCorrectnessProof", a["key_correctness_proof"])
    return wheel.CredentialOffer.create(a["schema_id"], a["cred_def_id"], proof).to_json()


def link_secret(_):
    return wheel.create_link_secret()


def nonce(_):
    return wheel.generate_nonce()


def request(a):
    made = wheel.CredentialRequest.create(
        a.get("entropy"), a.get("prover_did"), load("CredentialDefinition", a["cred_def"]),
        a["link_secret"], a["link_secret_id"], load("CredentialOffer", a["offer"]))
    return [part.to_json() for part in made]


def registry(a):
    made = wheel.RevocationRegistryDefinition.create(
        a["cred_def_id"], load("CredentialDefinition", a["cred_def"]), a["issuer_id"], a["tag"], "CL_ACCUM",
        a["size"], tails_dir_path=a["tails_directory"])
    return [part.to_json() for part in made]


def registry_keys(a):
    return (load("CredentialDefinition", a["cred_def"]), load("RevocationRegistryDefinition", a["registry"]),
            load("RevocationRegistryDefinitionPrivate", a["registry_private"]))


def status_list(a):
    cred_def, definition, private = registry_keys(a)
    return wheel.RevocationStatusList.create(
        cred_def, a["registry_id"], definition, private, a["issuer_id"], a["by_default"], a.get("timestamp")).to_json()


def update_status_list(a):
    cred_def, definition, private = registry_keys(a)
    current = load("RevocationStatusList", a["list"])
    return current.update(cred_def, definition, private, a.get("issued"), a.get("revoked"), a.get("timestamp")).to_json()


def issue(a):
    revocation = None
    if a.get("revocation"):
        r = a["revocation"]
        revocation = wheel.CredentialRevocationConfig(
            load("RevocationRegistryDefinition", r["registry"]),
            load("RevocationRegistryDefinitionPrivate", r["registry_private"]),
            load("RevocationStatusList", r["list"]), r["index"])
    return wheel.Credential.create(
        load("CredentialDefinition", a["cred_def"]), load("CredentialDefinitionPrivate", a["cred_def_private"]),
        load("CredentialOffer", a["offer"]), load("CredentialRequest", a["request"]), a["values"], a.get("encoded"),
        revocation).to_json()


def process(a):
    return load("Credential", a["credential"]).process(
        load("CredentialRequestMetadata", a["metadata"]), a["link_secret"],
        load("CredentialDefinition", a["cred_def"]), load("RevocationRegistryDefinition", a.get("registry"))).to_json()


def state(a):
    return wheel.CredentialRevocationState.create(
        load("RevocationRegistryDefinition", a["registry"]), load("RevocationStatusList", a["list"]), a["index"],
        a["tails"], load("CredentialRevocationState", a.get("state")),
        load("RevocationStatusList", a.get("old_list"))).to_json()


def chosen(a, kind):
    chosen = wheel.PresentCredentials()
    for c in a["credentials"]:
        credential = load(kind, c["credential"])
        more = {"timestamp": c.get("timestamp"), "rev_state": load("CredentialRevocationState", c.get("state"))}
        for referent, reveal in c.get("attributes", []):
            chosen.add_attributes(credential, referent, reveal=reveal, **more)
        chosen.add_predicates(credential, *c.get("predicates", []), **more)
    return chosen


def present(a):
    return wheel.Presentation.create(
        load("PresentationRequest", a["request"]), chosen(a, "Credential"), a.get("self_attested"), a["link_secret"],
        load_all("Schema", a["schemas"]), load_all("CredentialDefinition", a["cred_defs"])).to_json()


def present_w3c(a):
    return wheel.W3cPresentation.create(
        load("PresentationRequest", a["request"]), chosen(a, "W3cCredential"), a["link_secret"],
        load_all("Schema", a["schemas"]), load_all("CredentialDefinition", a["cred_defs"])).to_json()


def verify(a, kind="Presentation"):
    overrides = [wheel.NonrevokedIntervalOverride(*o) for o in a.get("overrides", [])]
    return load(kind, a["presentation"]).verify(
        load("PresentationRequest", a["request"]), load_all("Schema", a["schemas"]),
        load_all("CredentialDefinition", a["cred_defs"]), load_all("RevocationRegistryDefinition", a.get("registries")),
        [load("RevocationStatusList", text) for text in a.get("lists") or []], overrides)


def verify_w3c(a):
    return verify(a, "W3cPresentation")


def to_w3c(a):
    return load("Credential", a["credential"]).to_w3c(a["issuer_id"]).to_json()


def from_w3c(a):
    return load("W3cCredential", a["credential"]).to_legacy().to_json()


def encode(a):
    return wheel.encode_credential_attributes(a["values"])


def parse(a):
    """A message read and written again."""
    return load(a["kind"], a["text"]).to_json()


CANDIDATES = {}
CHECKS = 16


def crypto():
    """OpenSSL, as this Python finds it."""
    library = ctypes.CDLL(ctypes.util.find_library("crypto"))
    pointer = ctypes.c_void_p
    for name, arguments, result in (
            ("BN_CTX_new", [], pointer), ("BN_new", [], pointer),
            ("BN_bin2bn", [ctypes.c_char_p, ctypes.c_int, pointer], pointer),
            ("BN_MONT_CTX_new", [], pointer), ("BN_MONT_CTX_set", [pointer] * 3, ctypes.c_int),
            ("BN_mod_exp_mont", [pointer] * 6, ctypes.c_int), ("BN_is_one", [pointer], ctypes.c_int)):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


def safe_prime_start(a):
    """A start some 300 candidates below half of a safe prime."""
    return f"{(int(a['half']) - 120_000):x}"


def candidates(start):
    """The halves h that our search would test, from `start` on: no prime up to its limit divides h or 2h + 1."""
    window, limit = 1 << 16, min(1 << 19, start.bit_length() ** 2 // 2)
    sieve = bytearray([1]) * limit
    out = bytearray([1]) * window
    for prime in range(3, limit, 2):
        if not sieve[prime]:
            continue
        sieve[prime * prime::prime] = bytes(len(range(prime * prime, limit, prime)))
        for wanted in (0, (prime - 1) // 2):
            first = (wanted - start) * pow(2, -1, prime) % prime
            out[first::prime] = bytes(len(range(first, window, prime)))
    return [start + 2 * place for place in range(window) if out[place]]


def safe_prime_from(a):
    """The first safe prime 2h + 1 from a start on, by OpenSSL's powers: one round for the same numbers as ours, and at the
    end as many rounds of h as ours has and as many of 2h + 1, which ours need not have, each a power to a random base. The
    sieve is not in the time, and the numbers are OpenSSL's already."""
    library, start = crypto(), int(a["start"], 16)

    def number(value):
        data = value.to_bytes((value.bit_length() + 7) // 8, "big")
        return library.BN_bin2bn(data, len(data), None)

    if a["start"] not in CANDIDATES:
        tested = [(h, [(number(n), number(n - 1)) for n in (h, 2 * h + 1)]) for h in candidates(start)]
        CANDIDATES[a["start"]] = (tested, [number(random.getrandbits(1000)) for _ in range(CHECKS)])
        CANDIDATES["own"] = library.BN_CTX_new(), library.BN_MONT_CTX_new(), library.BN_new()
    tested, bases = CANDIDATES[a["start"]]
    context, montgomery, power = CANDIDATES["own"]

    def agrees(pair, rounds):
        modulus, exponent = pair
        library.BN_MONT_CTX_set(montgomery, modulus, context)
        return all(library.BN_mod_exp_mont(power, base, exponent, modulus, context, montgomery)
                   and library.BN_is_one(power) for base in bases[:rounds])

    for h, (half, whole) in tested:
        if agrees(half, 1) and agrees(whole, 1) and agrees(half, CHECKS) and agrees(whole, CHECKS):
            return f"{2 * h + 1:x}"
    return None


def version(_):
    return bindings.library_version()


CALLS = {call.__name__: call for call in (
    schema, credential_definition, offer, link_secret, nonce, request, registry, status_list, update_status_list,
    issue, process, state, present, verify, present_w3c, verify_w3c, to_w3c, from_w3c, encode, parse, safe_prime_start,
    safe_prime_from, version)}


def run(line):
    global WARM
    call = CALLS[line["call"]]
    WARM = line.get("warm", False)
    arguments = line["arguments"]
    if WARM:
        call(arguments)
    wall, cpu = [], []
    for _ in range(line.get("repeat", 1)):
        began, burned = time.perf_counter_ns(), time.process_time_ns()
        answer = call(arguments)
        cpu.append(time.process_time_ns() - burned)
        wall.append(time.perf_counter_ns() - began)
    return {"answer": answer, "wall_ns": wall, "cpu_ns": cpu}


def main():
    for text in sys.stdin:
        try:
            reply = run(json.loads(text))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
