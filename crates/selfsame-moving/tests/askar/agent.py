"""Makes a wallet with ACA-Py's own code, as an agent that issues and holds, and prints how many records it has.

Reads a job from standard input: {"config": what ACA-Py calls the wallet's configuration}; its member "home" is the folder
below which ACA-Py keeps its files. Prints a JSON object: how many records each category has, with the keys as "keys".
"""

import asyncio
import json
import os
import sys
from collections import Counter

from acapy_agent.anoncreds.holder import AnonCredsHolder
from acapy_agent.anoncreds.issuer import (
    CATEGORY_CRED_DEF,
    CATEGORY_CRED_DEF_KEY_PROOF,
    CATEGORY_CRED_DEF_PRIVATE,
    CATEGORY_SCHEMA,
)
from acapy_agent.anoncreds.models.schema import AnonCredsSchema
from acapy_agent.anoncreds.models.schema_info import AnonCredsSchemaInfo
from acapy_agent.anoncreds.registry import AnonCredsRegistry
from acapy_agent.askar.profile_anon import AskarAnonProfileManager
from acapy_agent.cache.base import BaseCache
from acapy_agent.cache.in_memory import InMemoryCache
from acapy_agent.config.injection_context import InjectionContext
from acapy_agent.connections.models.conn_record import ConnRecord
from acapy_agent.core.event_bus import EventBus
from acapy_agent.storage.base import BaseStorage
from acapy_agent.storage.record import StorageRecord
from acapy_agent.wallet.base import BaseWallet
from acapy_agent.wallet.did_method import KEY, SOV, DIDMethods
from acapy_agent.wallet.key_type import ED25519, P256, X25519, KeyTypes
from anoncreds import CredentialDefinition, CredentialOffer, CredentialRequest, Credential, Schema

ISSUER = "55GkHamhTU1ZbTbV2ab9DE"
SCHEMA = f"{ISSUER}:2:vaccination:1.0"
DEFINITION = f"{ISSUER}:3:CL:18:vaccination"


class Registry(AnonCredsRegistry):
    """Knows the one schema, in place of a ledger."""

    async def get_schema_info_by_id(self, profile, schema_id):
        return AnonCredsSchemaInfo(issuer_id=ISSUER, name="vaccination", version="1.0")


async def people(profile):
    """DIDs, keys, a connection and a record of a plugin."""
    async with profile.transaction() as session:
        wallet = session.inject(BaseWallet)
        public = await wallet.create_local_did(SOV, ED25519, seed="testseed000000000000000000000001")
        await wallet.set_public_did(public.did)
        await wallet.create_local_did(KEY, ED25519, metadata={"name": "Jürgen ✓"})
        await wallet.create_local_did(KEY, P256)
        await wallet.create_key(X25519)
        await wallet.create_key(ED25519, metadata={"use": "mediation"})
        storage = session.inject(BaseStorage)
        await storage.add_record(StorageRecord("plugin_note", "value", {"~order": "1", "state": "new"}))
        await session.commit()
    async with profile.session() as session:
        for number in range(40):
            record = ConnRecord(
                my_did=public.did,
                their_label=f"Patient {number}",
                state=ConnRecord.State.COMPLETED.rfc160,
                alias="Pacientes",
            )
            await record.save(session, reason="made for a test", event=False)


async def anoncreds(profile):
    """A schema, a credential definition with its private half, the link secret, a credential."""
    names = ["vaccine", "date"]
    schema = Schema.create("vaccination", "1.0", ISSUER, names)
    definition, private, proof = CredentialDefinition.create(
        SCHEMA, schema, ISSUER, "vaccination", "CL", support_revocation=False
    )
    holder = AnonCredsHolder(profile)
    secret = await holder.get_master_secret()
    offer = CredentialOffer.create(SCHEMA, DEFINITION, proof)
    request, metadata = CredentialRequest.create("entropy", None, definition, secret, "default", offer)
    values = {"vaccine": "SARS-CoV2 - COVID 19", "date": "20211205"}
    credential = Credential.create(definition, private, offer, request, values)
    await holder.store_credential(
        definition.to_dict(), credential.to_dict(), metadata.to_dict(), credential_id="one"
    )
    async with profile.transaction() as session:
        stored = AnonCredsSchema(issuer_id=ISSUER, name="vaccination", version="1.0", attr_names=names)
        tags = {"name": "vaccination", "version": "1.0", "issuer_id": ISSUER, "state": "finished"}
        handle = session.handle
        await handle.insert(CATEGORY_SCHEMA, SCHEMA, stored.to_json(), tags=tags)
        tags = {"schema_id": SCHEMA, "state": "finished", "epoch": "1"}
        await handle.insert(CATEGORY_CRED_DEF, DEFINITION, definition.to_json_buffer(), tags=tags)
        await handle.insert(CATEGORY_CRED_DEF_PRIVATE, DEFINITION, private.to_json_buffer())
        await handle.insert(CATEGORY_CRED_DEF_KEY_PROOF, DEFINITION, proof.to_json_buffer())
        await session.commit()


async def listed(profile):
    counts = Counter()
    async for one in profile.store.scan(profile=profile.settings.get("wallet.askar_profile"), category=None):
        counts[one.category] += 1
    async with profile.session() as session:
        counts["keys"] = len(await session.handle.fetch_all_keys())
    return counts


async def main():
    config = json.load(sys.stdin)["config"]
    os.environ["HOME"] = config.pop("home", os.environ["HOME"])
    context = InjectionContext()
    context.injector.bind_instance(AnonCredsRegistry, Registry())
    context.injector.bind_instance(BaseCache, InMemoryCache())
    context.injector.bind_instance(EventBus, EventBus())
    context.injector.bind_instance(DIDMethods, DIDMethods())
    context.injector.bind_instance(KeyTypes, KeyTypes())
    profile = await AskarAnonProfileManager().provision(context, {**config, "auto_recreate": True})
    await people(profile)
    await anoncreds(profile)
    counts = await listed(profile)
    await profile.close()
    print(json.dumps(counts))


asyncio.run(main())
