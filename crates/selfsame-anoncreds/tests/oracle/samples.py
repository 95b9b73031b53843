"""Writes vectors/anoncreds: one file for each message of two flows, as the published library writes it.

Use: python samples.py FOLDER      (with the wheel `anoncreds` 0.2.3)
"""

import json
import os
import pathlib
import shutil
import sys

import oracle

FOLDER = pathlib.Path(sys.argv[1]).absolute()
HOLDER = "3mh1e1Vi2YDrLGmpD1Vc5J"
EARLY, LATE = 1_700_000_000, 1_700_086_400


def call(name, /, **arguments):
    return oracle.CALLS[name](arguments)


class Flow:
    """The messages of one credential, each written to its file as it is made."""

    def __init__(self, name):
        self.folder = FOLDER / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.name = name

    def put(self, name, text):
        (self.folder / f"{name}.json").write_text(text)
        return text

    def define(self, issuer, schema_id, cred_def_id, attributes, revocation):
        self.schema_id, self.cred_def_id, self.issuer = schema_id, cred_def_id, issuer
        self.schema = self.put("schema", call(
            "schema", name="degree", version="1.0", issuer_id=issuer, attributes=attributes))
        self.cred_def, self.private, proof = call(
            "credential_definition", schema_id=schema_id, schema=self.schema, issuer_id=issuer, tag="default",
            revocation=revocation)
        self.put("cred_def", self.cred_def)
        self.put("cred_def_private", self.private)
        self.put("key_correctness_proof", proof)
        self.offer = self.put("offer", call(
            "offer", schema_id=schema_id, cred_def_id=cred_def_id, key_correctness_proof=proof))

    def register(self, registry_id, size):
        self.registry_id = registry_id
        self.registry, self.registry_private = call(
            "registry", cred_def_id=self.cred_def_id, cred_def=self.cred_def, issuer_id=self.issuer, tag="r1",
            size=size, tails_directory=str(self.folder))
        written = json.loads(self.registry)
        tails = self.folder / "tails.bin"
        os.replace(written["value"]["tailsLocation"], tails)
        self.tails = str(tails)
        # The library writes where the file lay when it was made; the sample must not depend on that folder.
        self.registry = self.registry.replace(written["value"]["tailsLocation"], "tails.bin")
        self.put("rev_reg_def", self.registry)
        self.put("rev_reg_def_private", self.registry_private)
        keys = dict(cred_def=self.cred_def, registry=self.registry, registry_private=self.registry_private)
        self.list = self.put("status_list", call(
            "status_list", registry_id=registry_id, issuer_id=self.issuer, by_default=True, timestamp=EARLY, **keys))
        self.put("status_list_on_demand", call(
            "status_list", registry_id=registry_id, issuer_id=self.issuer, by_default=False, timestamp=EARLY, **keys))
        self.list_late = self.put("status_list_updated", call(
            "update_status_list", list=self.list, revoked=[2, 5], timestamp=LATE, **keys))
        self.put("status_list_reinstated", call(
            "update_status_list", list=self.list_late, issued=[5], timestamp=LATE + 60, **keys))

    def issue(self, link_secret, values, index=None, who=None):
        self.request, metadata = call("request", cred_def=self.cred_def, link_secret=link_secret,
                                      link_secret_id="default", offer=self.offer, **who)
        self.put("request", self.request)
        self.put("request_metadata", metadata)
        revocation = None if index is None else {
            "registry": self.registry, "registry_private": self.registry_private, "list": self.list, "index": index}
        issued = self.put("credential", call(
            "issue", cred_def=self.cred_def, cred_def_private=self.private, offer=self.offer, request=self.request,
            values=values, revocation=revocation))
        self.credential = self.put("credential_processed", call(
            "process", credential=issued, metadata=metadata, link_secret=link_secret, cred_def=self.cred_def,
            registry=getattr(self, "registry", None)))
        if index is not None:
            self.state = self.put("rev_state", call(
                "state", registry=self.registry, list=self.list, index=index, tails=self.tails))
            self.state_late = self.put("rev_state_updated", call(
                "state", registry=self.registry, list=self.list_late, index=index, tails=self.tails,
                state=self.state, old_list=self.list))


def prove(name, link_secret, request, credentials, flows, self_attested=None, lists=(), registries=None):
    folder = FOLDER / "presentations"
    folder.mkdir(exist_ok=True)
    request = json.dumps({"name": name, "version": "1.0", "nonce": call("nonce"), "ver": "1.0", **request}, indent=1)
    (folder / f"{name}.request.json").write_text(request)
    known = {"schemas": {f.schema_id: f.schema for f in flows}, "cred_defs": {f.cred_def_id: f.cred_def for f in flows}}
    made = call("present", request=request, credentials=credentials, self_attested=self_attested,
                link_secret=link_secret, **known)
    assert call("verify", presentation=made, request=request, lists=lists, registries=registries, **known)
    (folder / f"{name}.json").write_text(made)


def flows(link_secret):
    legacy = Flow("legacy")
    did = "NcYxiDXkpYi6ov5FcYDi1e"
    schema_id = f"{did}:2:degree:1.0"
    cred_def_id = f"{did}:3:CL:{schema_id}:default"
    legacy.define(did, schema_id, cred_def_id, ["name", "age", "degree", "height", "id number"], True)
    legacy.register(f"{did}:4:{cred_def_id}:CL_ACCUM:r1", 8)
    legacy.issue(link_secret, {"name": "Alice Śmith", "age": "28", "degree": "Maths", "height": "-175",
                               "id number": "0042"}, 3, {"prover_did": HOLDER})
    qualified = Flow("qualified")
    qualified.define("did:example:issuer", "did:example:issuer/schema/1", "did:example:issuer/cred-def/1",
                     ["city", "points"], False)
    qualified.issue(link_secret, {"city": "", "points": "2147483647"}, None, {"entropy": "entropy"})
    return legacy, qualified


def presentations(link_secret, legacy, qualified):
    card = {"credential": legacy.credential}
    one = {"name": {"name": "name"}}
    only_legacy = [{"cred_def_id": legacy.cred_def_id}]
    prove("revealed", link_secret, {"requested_attributes": {
        "name": {"name": "name", "restrictions": only_legacy}, "age": {"name": "AGE"}}, "requested_predicates": {}},
        [{**card, "attributes": [["name", True], ["age", True]]}], [legacy])
    prove("unrevealed_group_self_attested", link_secret, {"requested_attributes": {
        **one, "group": {"names": ["degree", "id number"], "restrictions": [
            {"$and": [{"schema_name": "degree"}, {"attr::degree::value": "Maths"}]}]}, "phone": {"name": "phone"}},
        "requested_predicates": {}},
        [{**card, "attributes": [["name", False], ["group", True]]}], [legacy], {"phone": "555 0100"})
    kinds = {">=": 28, ">": 27, "<=": 28, "<": 100}
    prove("predicates", link_secret, {"requested_attributes": {}, "requested_predicates": {
        f"age {kind}": {"name": "age", "p_type": kind, "p_value": value} for kind, value in kinds.items()}},
        [{**card, "predicates": [f"age {kind}" for kind in kinds]}], [legacy])
    revocation = {"lists": [legacy.list, legacy.list_late], "registries": {legacy.registry_id: legacy.registry}}
    prove("non_revoked", link_secret, {"requested_attributes": one, "requested_predicates": {},
                                       "non_revoked": {"from": EARLY, "to": EARLY}},
          [{**card, "attributes": [["name", True]], "timestamp": EARLY, "state": legacy.state}], [legacy], **revocation)
    prove("two_credentials", link_secret, {"requested_attributes": {
        **one, "city": {"name": "city"}}, "requested_predicates": {
        "age": {"name": "age", "p_type": ">=", "p_value": 18, "non_revoked": {"from": EARLY, "to": LATE}}}},
        [{**card, "attributes": [["name", True]], "predicates": ["age"], "timestamp": LATE,
          "state": legacy.state_late}, {"credential": qualified.credential, "attributes": [["city", True]]}],
        [legacy, qualified], **revocation)


def main():
    for name in ("legacy", "qualified", "presentations"):
        shutil.rmtree(FOLDER / name, ignore_errors=True)
    link_secret = call("link_secret")
    legacy, qualified = flows(link_secret)
    (FOLDER / "link_secret.txt").write_text(link_secret)
    presentations(link_secret, legacy, qualified)


if __name__ == "__main__":
    main()
