"""Packs and unpacks messages of DIDComm v1 with ACA-Py's own code over Askar's library.

Reads a job from standard input: {"do": "pack", "to": [keys in base58], "from": seed in hexadecimal or null, "message":
text} or {"do": "unpack", "seed": seed of the recipient, "envelope": text}. Prints a JSON object.
"""

import asyncio
import json
import sys
from types import SimpleNamespace

from acapy_agent.askar.didcomm.v1 import pack_message, unpack_message
from aries_askar import Key, KeyAlg
from base58 import b58encode


def key(seed):
    return Key.from_secret_bytes(KeyAlg.ED25519, bytes.fromhex(seed))


class Session:
    """Holds one key, in place of a wallet."""

    def __init__(self, seed):
        self.key = key(seed)
        self.name = b58encode(self.key.get_public_bytes()).decode()

    async def fetch_key(self, name):
        return SimpleNamespace(key=self.key) if name == self.name else None


def main():
    job = json.load(sys.stdin)
    if job["do"] == "pack":
        sender = key(job["from"]) if job["from"] else None
        packed = pack_message(job["to"], sender, job["message"].encode())
        return {"envelope": packed.decode()}
    try:
        opened = asyncio.run(unpack_message(Session(job["seed"]), job["envelope"].encode()))
    except Exception as error:  # noqa: BLE001
        return {"refused": type(error).__name__}
    message, recipient, sender = opened
    return {"message": bytes(message).decode(), "recipient": recipient, "sender": sender}


print(json.dumps(main()))
