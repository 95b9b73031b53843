"""Writes vectors/anoncreds/w3c: the samples of vectors/anoncreds in W3C's form, as the published library writes it.

Use: python samples.py vectors/anoncreds      (with the wheel `anoncreds` 0.2.3)
"""

import json
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1]).absolute()
HERE = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(HERE.parent.parent / "selfsame-anoncreds" / "tests" / "oracle"))
import oracle  # noqa: E402

EARLY = 1_700_000_000
OUT = FOLDER / "w3c"


def text(name):
    return (FOLDER / name).read_text()


def call(name, /, **arguments):
    return oracle.CALLS[name](arguments)


def put(name, content):
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.json").write_text(content)
    return content


def issuer(flow):
    return json.loads(text(f"{flow}/cred_def.json"))["issuerId"]


def known(flows):
    offers = {flow: json.loads(text(f"{flow}/offer.json")) for flow in flows}
    return {
        "schemas": {offers[flow]["schema_id"]: text(f"{flow}/schema.json") for flow in flows},
        "cred_defs": {offers[flow]["cred_def_id"]: text(f"{flow}/cred_def.json") for flow in flows},
    }


def prove(name, request, credentials, flows, **revocation):
    request = json.dumps({"name": name, "version": "1.0", "nonce": call("nonce"), **request}, indent=1)
    put(f"{name}.request", request)
    link_secret = text("link_secret.txt").strip()
    made = call("present_w3c", request=request, credentials=credentials, link_secret=link_secret, **known(flows))
    assert call("verify_w3c", presentation=made, request=request, **known(flows), **revocation)
    put(name, made)


def main():
    issued = {flow: put(f"{flow}_credential", call(
        "to_w3c", credential=text(f"{flow}/credential.json"), issuer_id=issuer(flow))) for flow in ("legacy", "qualified")}
    for flow, credential in issued.items():
        assert json.loads(call("from_w3c", credential=credential)) == json.loads(text(f"{flow}/credential.json")) or \
            flow == "legacy"
    held = {flow: call("to_w3c", credential=text(f"{flow}/credential_processed.json"), issuer_id=issuer(flow))
            for flow in issued}
    card = {"credential": held["legacy"]}
    group = {"requested_attributes": {"card_attribute": {"names": ["name", "degree"]}}, "requested_predicates": {
        "card_predicate_0": {"name": "age", "p_type": ">=", "p_value": 18}}}
    prove("predicate", group, [{**card, "attributes": [["card_attribute", True]], "predicates": ["card_predicate_0"]}],
          ["legacy"])
    registry = json.loads(text("legacy/status_list.json"))["revRegDefId"]
    revocation = {"lists": [text("legacy/status_list.json")], "registries": {registry: text("legacy/rev_reg_def.json")}}
    both = {"requested_attributes": {
        "card_attribute": {"names": ["name"], "non_revoked": {"from": EARLY, "to": EARLY}},
        "home_attribute": {"names": ["points"]}}, "requested_predicates": {}}
    prove("two_credentials", both, [
        {**card, "attributes": [["card_attribute", True]], "timestamp": EARLY, "state": text("legacy/rev_state.json")},
        {"credential": held["qualified"], "attributes": [["home_attribute", True]]}], ["legacy", "qualified"],
        **revocation)


if __name__ == "__main__":
    main()
