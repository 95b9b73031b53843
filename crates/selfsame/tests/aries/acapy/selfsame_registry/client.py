"""A client of a Selfsame registry: it reads objects, and writes what its own DID signs (docs/did-method.md)."""

import base64
import hashlib
import os
import secrets
from dataclasses import dataclass
from urllib.parse import quote

import aiohttp
import base58
from nacl.signing import SigningKey

from . import cbor

DOMAIN = "selfsame/transaction/1"
SCHEMA, DEFINITION, REGISTRY, ENTRY = 7, 8, 9, 10


class RegistryError(Exception):
    """What the registry refused, and why."""


@dataclass
class Client:
    """A registry, and a DID that writes there."""

    origin: str
    token: str
    did: str
    seed: bytes

    @classmethod
    def of_environment(cls) -> "Client":
        """The client that the test names."""
        return cls(
            os.environ["SELFSAME_ORIGIN"].rstrip("/"),
            os.environ["SELFSAME_TOKEN"],
            os.environ["SELFSAME_DID"],
            os.environ["SELFSAME_SEED"].encode(),
        )

    def schema_id(self, name: str, version: str) -> str:
        """The name that the registry gives to a schema of the DID."""
        return self._named("SCHEMA", _part(name), _part(version))

    def definition_id(self, schema: str, tag: str) -> str:
        """The name of a credential definition."""
        return self._named("CLAIM_DEF", _digest(schema), _part(tag))

    def registry_id(self, definition: str, tag: str) -> str:
        """The name of a revocation registry."""
        return self._named("REV_REG_DEF", _digest(definition), _part(tag))

    def _named(self, kind: str, *parts: str) -> str:
        return "/".join([self.did, "anoncreds/v0", kind, *parts])

    async def read(self, key: str):
        """The object under a key; None if there is none."""
        coded = base64.urlsafe_b64encode(key.encode()).rstrip(b"=").decode()
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{self.origin}/registry/read", params={"key": coded}) as answer:
                if answer.status != 200:
                    raise RegistryError(await answer.text())
                bundle = cbor.decode(await answer.read())
        found = bundle[3]
        return cbor.decode(found[0]) if found else None

    async def published(self, name: str):
        """The object of a name, a DID URL; None if there is none."""
        return await self.read(key_of(name))

    async def entries(self, name: str) -> list:
        """The entries of a revocation registry, the first one first."""
        key = f"{key_of(name)}/entries"
        present = await self.read(key)
        count = present[0] if present else 0
        return [await self.read(f"{key}/v/{number}") for number in range(1, count + 1)]

    async def write(self, operation: list) -> dict:
        """The receipt of an operation of the DID."""
        network, identifier = self.did.split(":")[2:4]
        author = base58.b58decode(identifier)
        nonce = secrets.randbits(63)
        body = cbor.encode([DOMAIN, network, author, nonce, [operation], [], []])
        signature = SigningKey(self.seed).sign(body).signature
        transaction = cbor.encode([body, [["key-1", signature]], []])
        headers = {**self._bearer(), "Content-Type": "application/cbor"}
        url = f"{self.origin}/registry/transactions"
        async with aiohttp.ClientSession(headers=headers) as session:
            async with session.post(url, data=transaction) as answer:
                if answer.status != 200:
                    raise RegistryError(await answer.text())
                return await answer.json()

    async def keep_tails(self, name: str, path: str) -> None:
        """Keeps a tails file, by its hash."""
        form = aiohttp.FormData()
        with open(path, "rb") as tails:
            form.add_field("tails", tails.read(), filename=name)
        async with aiohttp.ClientSession(headers=self._bearer()) as session:
            async with session.put(f"{self.origin}/tails/hash/{name}", data=form) as answer:
                if answer.status != 200:
                    raise RegistryError(await answer.text())

    async def resolve(self, did: str) -> dict:
        """The document of a DID."""
        headers = {"Accept": "application/did+json"}
        async with aiohttp.ClientSession(headers=headers) as session:
            async with session.get(f"{self.origin}/1.0/identifiers/{did}") as answer:
                if answer.status != 200:
                    raise RegistryError(await answer.text())
                return await answer.json(content_type=None)

    def _bearer(self) -> dict:
        return {"Authorization": f"Bearer {self.token}"}


def key_of(name: str) -> str:
    """Where the registry keeps the object of a name."""
    did, path = name.split("/anoncreds/v0/")
    return f"anoncreds/{did.split(':')[3]}/{path}"


def _part(text: str) -> str:
    return quote(text, safe="-._~")


def _digest(identifier: str) -> str:
    return base58.b58encode(hashlib.sha256(identifier.encode()).digest()[:16]).decode()
