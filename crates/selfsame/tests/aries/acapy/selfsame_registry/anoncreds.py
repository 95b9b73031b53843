"""The AnonCreds registry that ACA-Py asks for names of did:selfsame."""

import json
import re
import time
from typing import Optional, Pattern, Sequence

from acapy_agent.anoncreds.base import (
    AnonCredsObjectNotFound,
    AnonCredsRegistrationError,
    BaseAnonCredsRegistrar,
    BaseAnonCredsResolver,
)
from acapy_agent.anoncreds.events import RevListFinishedEvent
from acapy_agent.anoncreds.models.credential_definition import (
    CredDef,
    CredDefResult,
    CredDefState,
    GetCredDefResult,
)
from acapy_agent.anoncreds.models.revocation import (
    GetRevListResult,
    GetRevRegDefResult,
    RevList,
    RevListResult,
    RevListState,
    RevRegDef,
    RevRegDefResult,
    RevRegDefState,
)
from acapy_agent.anoncreds.models.schema import (
    AnonCredsSchema,
    GetSchemaResult,
    SchemaResult,
    SchemaState,
)
from acapy_agent.anoncreds.models.schema_info import AnonCredsSchemaInfo
from acapy_agent.core.event_bus import EventBus

from .client import DEFINITION, ENTRY, REGISTRY, SCHEMA, Client, RegistryError


class SelfsameAnonCreds(BaseAnonCredsResolver, BaseAnonCredsRegistrar):
    """Reads objects of every issuer, and writes those of its own DID."""

    def __init__(self, client: Client):
        """Reads and writes by this client."""
        self.client = client

    @property
    def supported_identifiers_regex(self) -> Pattern:
        """What begins with a did:selfsame."""
        return re.compile(r"^did:selfsame:[a-z2-7]{16}:[1-9A-HJ-NP-Za-km-z]+(/.*)?$")

    async def setup(self, context):
        """There is nothing to set up."""

    async def _published(self, name: str):
        found = await self.client.published(name)
        if found is None:
            raise AnonCredsObjectNotFound(f"{name} is not published")
        return found

    async def _write(self, kind: int, content):
        try:
            return await self.client.write([kind, content])
        except RegistryError as error:
            raise AnonCredsRegistrationError(str(error)) from error

    async def get_schema(self, profile, schema_id: str) -> GetSchemaResult:
        """A schema."""
        text, receipt = await self._published(schema_id)
        schema = AnonCredsSchema.deserialize(json.loads(text))
        return GetSchemaResult(schema, schema_id, {}, {"seqNo": receipt[0]})

    async def get_schema_info_by_id(self, profile, schema_id: str) -> AnonCredsSchemaInfo:
        """Who published a schema, under which name."""
        schema = (await self.get_schema(profile, schema_id)).schema
        return AnonCredsSchemaInfo(schema.issuer_id, schema.name, schema.version)

    async def register_schema(
        self, profile, schema: AnonCredsSchema, options: Optional[dict] = None
    ) -> SchemaResult:
        """Publishes a schema."""
        await self._write(SCHEMA, json.dumps(schema.serialize()))
        name = self.client.schema_id(schema.name, schema.version)
        return SchemaResult(None, SchemaState(SchemaState.STATE_FINISHED, name, schema), {}, {})

    async def get_credential_definition(
        self, profile, credential_definition_id: str
    ) -> GetCredDefResult:
        """A credential definition."""
        definition, receipt, _ = await self._published(credential_definition_id)
        return GetCredDefResult(
            credential_definition_id,
            CredDef.deserialize(json.loads(definition[0])),
            {},
            {"seqNo": receipt[0]},
        )

    async def register_credential_definition(
        self, profile, schema, credential_definition: CredDef, options: Optional[dict] = None
    ) -> CredDefResult:
        """Publishes a credential definition."""
        text = json.dumps(credential_definition.serialize())
        await self._write(DEFINITION, [text, [], []])
        name = self.client.definition_id(schema.schema_id, credential_definition.tag)
        state = CredDefState(CredDefState.STATE_FINISHED, name, credential_definition)
        return CredDefResult(None, state, {}, {})

    async def get_revocation_registry_definition(
        self, profile, revocation_registry_id: str
    ) -> GetRevRegDefResult:
        """The definition of a revocation registry."""
        text, _, receipt = await self._published(revocation_registry_id)
        definition = RevRegDef.deserialize(json.loads(text))
        seen = {"seqNo": receipt[0]}
        return GetRevRegDefResult(definition, revocation_registry_id, {}, seen)

    async def register_revocation_registry_definition(
        self, profile, revocation_registry_definition: RevRegDef, options: Optional[dict] = None
    ) -> RevRegDefResult:
        """Publishes the definition of a revocation registry."""
        made = revocation_registry_definition
        await self._write(REGISTRY, json.dumps(made.serialize()))
        name = self.client.registry_id(made.cred_def_id, made.tag)
        state = RevRegDefState(RevRegDefState.STATE_FINISHED, name, made)
        return RevRegDefResult(None, state, {}, {})

    async def get_revocation_list(
        self,
        profile,
        revocation_registry_id: str,
        timestamp_from: Optional[int] = 0,
        timestamp_to: Optional[int] = None,
    ) -> GetRevListResult:
        """The list that was in force at the end of the interval."""
        latest = time.time() if timestamp_to is None else timestamp_to
        text, places, _ = await self._published(revocation_registry_id)
        bits, last = [0] * places, None
        for entry in await self.client.entries(revocation_registry_id):
            receipt, _, _, issued, revoked = entry
            if receipt[2] > latest:
                break
            last = entry
            for place in issued:
                bits[place] = 0
            for place in revoked:
                bits[place] = 1
        if last is None:
            raise AnonCredsObjectNotFound(f"{revocation_registry_id} has no list by {latest}")
        issuer = json.loads(text)["issuerId"]
        found = RevList(issuer, revocation_registry_id, bits, last[2], last[0][2])
        return GetRevListResult(found, {}, {})

    async def register_revocation_list(
        self, profile, rev_reg_def: RevRegDef, rev_list: RevList, options: Optional[dict] = None
    ) -> RevListResult:
        """Publishes the first list of a registry."""
        return await self._entry(rev_list, [], [])

    async def update_revocation_list(
        self,
        profile,
        rev_reg_def: RevRegDef,
        prev_list: RevList,
        curr_list: RevList,
        revoked: Sequence[int],
        options: Optional[dict] = None,
    ) -> RevListResult:
        """Publishes what changed since the list before, and tells ACA-Py, which notifies the holders then."""
        result = await self._entry(curr_list, [prev_list.current_accumulator], sorted(revoked))
        published = RevListFinishedEvent.with_payload(curr_list.rev_reg_def_id, list(revoked))
        await profile.inject(EventBus).notify(profile, published)
        return result

    async def _entry(self, made: RevList, before: list, revoked: list) -> RevListResult:
        content = [made.rev_reg_def_id, before, made.current_accumulator, [], revoked]
        await self._write(ENTRY, content)
        return RevListResult(None, RevListState(RevListState.STATE_FINISHED, made), {}, {})
