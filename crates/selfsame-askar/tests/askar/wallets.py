"""Makes a wallet with Askar, reads it back with Askar, and prints what is in it as JSON.

Reads a job from standard input: {"address", "method", "key", "content": "large" | "small" | "tiny"}. With "shrink", the
path of the same file, SQLite then writes its rows anew in small pages.
The hash of each record is computed here from the description in src/tally.rs, without our code.
"""

import asyncio
import base64
import hashlib
import json
import sqlite3
import sys

from aries_askar import Key, KeyAlg, Store

MONTH = 30 * 24 * 3600 * 1000


def counted(data: bytes) -> bytes:
    return len(data).to_bytes(8, "big") + data


def record_hash(kind, category, name, value, tags):
    hashed = hashlib.sha256(b"selfsame askar record 1\n" + bytes([kind]))
    for part in (category.encode(), name.encode(), value):
        hashed.update(counted(part))
    hashed.update(b"\0")
    hashed.update(len(tags).to_bytes(8, "big"))
    for tag in sorted(tags, key=lambda tag: (tag[0].encode(), tag[2].encode(), tag[1])):
        hashed.update(bytes([tag[1]]) + counted(tag[0].encode()) + counted(tag[2].encode()))
    return hashed.hexdigest()


def listed(tags):
    """Tags as [name, is plaintext, value]; Askar's wrapper puts `~` before names of tags in plaintext."""
    found = []
    for name, values in (tags or {}).items():
        for value in [values] if isinstance(values, str) else values:
            found.append([name.removeprefix("~"), name.startswith("~"), value])
    return sorted(found)


def head(major: int, length: int) -> bytes:
    if length < 24:
        return bytes([major << 5 | length])
    if length < 256:
        return bytes([major << 5 | 24, length])
    return bytes([major << 5 | 25]) + length.to_bytes(2, "big")


def entry(metadata, jwk: bytes) -> bytes:
    """The value of a key: metadata and JWK in CBOR."""
    members = [("meta", head(3, len(metadata.encode())) + metadata.encode())] if metadata else []
    members.append(("data", head(2, len(jwk)) + jwk))
    pairs = [head(3, len(name)) + name.encode() + value for name, value in members]
    return head(5, len(pairs)) + b"".join(pairs)


def items(content):
    """Each item as category, name, value, tags, time to live in milliseconds."""
    if content == "tiny":
        yield "config", "default", b"{}", None, None
        yield "credential", "one", b"value", {"schema": "s", "~order": "7"}, None
        return
    yield "note", "empty", b"", None, None
    yield "note", "", b"without a name", {"t": ""}, None
    yield "n\u00f6te \u2713", "\U0001F33B", "Gr\u00fc\u00dfe".encode(), {"farbe": "gr\u00fcn", "~ok": "\u2713"}, None
    yield "note", "binary", bytes(range(256)), {"many": {"a", "b", "c"}, "~many": {"x", "y"}}, None
    yield "note", "expired", b"gone", {"t": "1"}, 1
    yield "note", "expiring", b"later", {"t": "2", "~u": "3"}, MONTH
    if content == "small":
        return
    yield "large", "megabyte", bytes([7]) * 1024 * 1024, {"size": "x" * 10_000}, None
    for number in range(493):
        tags = {"state": f"s{number % 5}", f"attr::a{number % 7}::value": str(number)}
        if number % 2:
            tags["~created"] = f"2026-01-{number % 28 + 1:02}"
        value = json.dumps({"n": number, "pad": "p" * (number * 7 % 900)}).encode()
        life = 1 if number % 100 == 17 else MONTH if number % 50 == 3 else None
        yield f"category {number % 6}", f"record {number}", value, tags, life


async def fill(store, profile, content, read):
    async with store.transaction(profile) as session:
        for category, name, value, tags, life in items(content):
            await session.insert(category, name, value, tags=tags, expiry_ms=life)
            read(profile, 2, category, name, value, listed(tags), life)
        if content != "tiny":
            for algorithm in KeyAlg:
                key = Key.generate(algorithm)
                metadata = json.dumps({"did": algorithm.value}) if algorithm.value[0] < "m" else None
                name, tags = f"key {algorithm.value}", {"use": "test", "~since": "2026"}
                await session.insert_key(name, key, metadata=metadata, tags=tags)
                stored = [["alg", False, algorithm.value], ["thumb", False, key.get_jwk_thumbprint()]]
                stored += [[f"user:{name}", plain, value] for name, plain, value in listed(tags)]
                value = entry(metadata, key.get_jwk_secret())
                read(profile, 1, "cryptokey", name, value, stored, None)
        await session.commit()


async def check(store, profile, records):
    """What Askar itself reads is what was written, but for what has expired."""
    there = {}
    async for one in store.scan(profile=profile, category=None):
        there[one.category, one.name] = (base64.b64encode(one.value).decode(), listed(one.tags))
    alive = [one for one in records if one["profile"] == profile and one["kind"] == 2]
    alive = [one for one in alive if one["name"] != "expired" and one["life"] != 1]
    expected = {(one["category"], one["name"]): (one["value"], one["tags"]) for one in alive}
    assert there == expected, f"{len(there)} records instead of {len(expected)}"


async def main():
    job = json.load(sys.stdin)
    store = await Store.provision(
        job["address"], job["method"], job["key"], profile="first", recreate=True
    )
    records = []

    def read(profile, kind, category, name, value, tags, life):
        hashed = None if life else record_hash(kind, category, name, value, tags)
        records.append({
            "profile": profile, "kind": kind, "category": category, "name": name,
            "value": base64.b64encode(value).decode(), "tags": sorted(tags), "life": life, "hash": hashed,
        })

    await fill(store, "first", job["content"], read)
    if job["content"] != "tiny":
        second = await store.create_profile("zweite \u2713")
        await fill(store, second, {"large": "small", "small": "tiny"}[job["content"]], read)
    await asyncio.sleep(0.1)
    for profile in {one["profile"] for one in records}:
        await check(store, profile, records)
    await store.close()
    if job.get("shrink"):
        with sqlite3.connect(job["shrink"]) as file:
            for statement in ("journal_mode = DELETE", "page_size = 512"):
                file.execute("PRAGMA " + statement)
            file.execute("VACUUM")
            file.execute("PRAGMA journal_mode = WAL")
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in records]
    print("[" + ",\n".join(lines) + "]")


asyncio.run(main())
