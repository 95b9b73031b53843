"""The resolver of did:selfsame that ACA-Py asks."""

import re
from typing import Pattern

from acapy_agent.resolver.base import BaseDIDResolver, DIDNotFound, ResolverType

from .client import Client, RegistryError


class SelfsameResolver(BaseDIDResolver):
    """Resolves by the registry's DID resolution over HTTP."""

    def __init__(self, client: Client):
        """Resolves by this client."""
        super().__init__(ResolverType.NATIVE)
        self.client = client

    async def setup(self, context):
        """There is nothing to set up."""

    @property
    def supported_did_regex(self) -> Pattern:
        """The method's DIDs."""
        return re.compile(r"^did:selfsame:.*$")

    async def _resolve(self, profile, did: str, service_accept=None) -> dict:
        try:
            return await self.client.resolve(did)
        except RegistryError as error:
            raise DIDNotFound(str(error)) from error
