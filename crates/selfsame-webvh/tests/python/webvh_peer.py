"""Makes and resolves logs with did-webvh: one job as JSON in, its result as JSON out."""

import asyncio
import json
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

from did_webvh.askar import AskarSigningKey
from did_webvh.core.hash_utils import DEFAULT_HASH, HashInfo
from did_webvh.history import update_document_state
from did_webvh.provision import provision_did
from did_webvh.resolver import resolve_did


def hashed(key):
    info = HashInfo.from_name(DEFAULT_HASH)
    return info.formatted_hash(key.multikey.encode())


def rotated(place):
    """A log that is rotated with pre-rotation, and ends."""
    one, two, three = (AskarSigningKey.generate("ed25519") for _ in range(3))
    begin = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(minutes=3)
    document = {"@context": ["https://www.w3.org/ns/did/v1"], "id": "did:webvh:{SCID}:" + place}
    params = {"updateKeys": [one.multikey], "nextKeyHashes": [hashed(two)], "portable": True}
    first = provision_did(document, params=params, timestamp=begin)
    first.proofs.append(first.create_proof(one, timestamp=first.timestamp))
    second = update_document_state(
        first,
        two,
        params_update={"updateKeys": [two.multikey], "nextKeyHashes": [hashed(three)]},
        timestamp=begin + timedelta(minutes=1),
    )
    ended = update_document_state(
        second,
        three,
        params_update={"updateKeys": [three.multikey], "nextKeyHashes": [], "deactivated": True},
        timestamp=begin + timedelta(minutes=2),
    )
    lines = [json.dumps(state.history_line()) + "\n" for state in (first, second, ended)]
    return {
        "did": first.document_id,
        "first": lines[0],
        "second": "".join(lines[:2]),
        "ended": "".join(lines),
    }


async def resolved(job):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "did.jsonl").write_text(job["log"])
        if job.get("witnesses"):
            (path / "did-witness.json").write_text(json.dumps(job["witnesses"]))
        found = await resolve_did(job["did"], local_history=path, add_implicit=False)
    result = found.serialize()
    error = (result["didResolutionMetadata"] or {}).get("error")
    if error:
        return {"error": error, "said": result}
    return {"doc": result["didDocument"], "meta": result["didDocumentMetadata"]}


job = json.load(sys.stdin)
if job["job"] == "resolve":
    result = asyncio.run(resolved(job))
else:
    result = rotated(job["address"])
print(json.dumps(result))
