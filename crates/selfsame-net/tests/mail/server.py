"""A mail server for tests: prints a line when it is ready, and one for each message. Arguments: port, and certificate and
key for STARTTLS, which it then demands together with a log-in."""

import json
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused@"):
            return "550 5.1.1 there is no such person here"
        if address.startswith("later@"):
            return "451 4.3.0 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        told = {
            "to": envelope.rcpt_tos,
            "encrypted": session.ssl is not None,
            "text": envelope.content.decode(),
        }
        print(json.dumps(told), flush=True)
        return "250 taken"


def authenticate(server, session, envelope, mechanism, data):
    right = data.login == b"selfsame" and data.password == b"secret"
    return AuthResult(success=right)


options = {}
if len(sys.argv) > 2:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    options = {
        "tls_context": context,
        "require_starttls": True,
        "auth_required": True,
        "authenticator": authenticate,
    }
# A busy machine may take long to start it.
options["ready_timeout"] = 60
controller = Controller(Handler(), hostname="localhost", port=int(sys.argv[1]), **options)
controller.start()
print("ready", flush=True)
sys.stdin.read()
