"""Plays one client or server as the object of JSON on standard input says; or compares the vectors."""

import json
import socket
import sys

from channel import Alerted
from credential import ECDSA, ED25519, Refused, check, issue
from handshake import Client, Server
from messages import (
    CERTIFICATE,
    DID,
    PROFILES,
    VC,
    Broken,
    extension,
    read_did_with,
    read_parameters,
    read_proof,
    read_request,
    read_vc,
    to_sign,
    write_did_with,
    write_parameters,
    write_proof,
    write_request,
    write_vc,
)

PATIENCE = 60  # seconds


def tell(**answer):
    print(json.dumps(answer), flush=True)


def play(plan):
    profile = PROFILES[plan["profile"]]
    if plan["role"] == "client":
        stream = socket.create_connection(("127.0.0.1", plan["port"]), PATIENCE)
        endpoint = Client(stream, profile, plan)
    else:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(PATIENCE)
            tell(port=listener.getsockname()[1])
            stream, _ = listener.accept()
        stream.settimeout(PATIENCE)
        endpoint = Server(stream, profile, plan)
    with stream:
        channel = endpoint.run()
        if plan["role"] == "client":
            channel.say(b"from Python\n")
            heard = channel.hear()
        else:
            heard = channel.hear()
            channel.update_keys()
            channel.say(b"from Python\n")
        channel.close()
    tell(peer=endpoint.peer, group=endpoint.group, suite=channel.suite, heard=heard.decode("utf-8"))


def vectors(path):
    """Each vector of the file that is of a profile we know is written and read as it is there."""
    known = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                name, value = line.split(":")
                known[name] = bytes.fromhex(value.strip())
    matched = []

    def match(name, written, read):
        if written != known[name]:
            raise SystemExit(f"{name} is {known[name].hex()} and was written as {written.hex()}")
        if not read(known[name]):
            raise SystemExit(f"{name} was not read as what it is")
        matched.append(name)

    request = (VC, [1, 3], [ED25519, ECDSA])
    did = (1, b"did:ott:00ff")
    proof = (ED25519, b"\xab" * 64)
    for name, profile in PROFILES.items():
        match(f"{name}_ssi_request", write_request(profile, *request), lambda v: read_request(profile, v[4:]) == request)
        match(f"{name}_vc", write_vc(profile, b"{}"), lambda v: read_vc(profile, v[4:]) == b"{}")
        match(f"{name}_did", write_did_with(profile, *did), lambda v: read_did_with(profile, v[4:]) == did)
        written = write_proof(profile.did_verify, *proof)
        match(f"{name}_did_verify", written, lambda v: read_proof(v[4:]) == proof)
        for parameters, kind in (((CERTIFICATE, []), "certificate"), ((DID, [1, 3]), "did"), ((VC, [1, 3]), "vc")):
            written = extension(profile.ssi_parameters, write_parameters(*parameters))
            match(f"{name}_parameters_{kind}", written, lambda v: read_parameters(v[4:]) == parameters)
        for side in ("server", "client"):
            match(f"{name}_{side}_signs", to_sign(profile.context(side), b"\xcd" * 32), bool)
    tell(matched=matched)


def main():
    if sys.argv[1:2] == ["--vectors"]:
        return vectors(sys.argv[2])
    plan = json.load(sys.stdin)
    if plan["role"] == "issuer":
        # The credential another would get, and who it is about as a verifier sees it.
        vc = issue(plan["issuer"], plan["subject"])
        return tell(vc=vc.hex(), subject=check(vc, plan["issuers"], plan["now"]))
    try:
        play(plan)
    except (Alerted, Broken, Refused) as reason:
        tell(failed=type(reason).__name__, reason=str(reason))


if __name__ == "__main__":
    main()
