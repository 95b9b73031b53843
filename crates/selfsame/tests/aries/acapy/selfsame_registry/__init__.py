"""A plug-in of ACA-Py for tests: AnonCreds objects and DIDs of a Selfsame registry, by its HTTP API."""

from acapy_agent.anoncreds.registry import AnonCredsRegistry
from acapy_agent.resolver.did_resolver import DIDResolver
from acapy_agent.tails.anoncreds_tails_server import AnonCredsTailsServer

from .anoncreds import SelfsameAnonCreds
from .client import Client
from .resolver import SelfsameResolver


async def setup(context):
    """Adds the registry and the resolver to those that ACA-Py has."""
    client = Client.of_environment()
    context.inject(AnonCredsRegistry).register(SelfsameAnonCreds(client))
    context.inject(DIDResolver).register_resolver(SelfsameResolver(client))

    # The tails server wants the operator's token, for which ACA-Py has no setting.
    async def upload(_server, settings, filename, tails_file_path, **_):
        await client.keep_tails(filename, tails_file_path)
        base = settings.settings.get("tails_server_base_url")
        return True, f"{base}/hash/{filename}"

    AnonCredsTailsServer.upload_tails_file = upload
