"""Client and server of the paper's handshake."""

import os

from tlslite.constants import AlertDescription, ContentType, ExtensionType, TLS_1_3_HRR
from tlslite.extensions import (
    ClientKeyShareExtension,
    HRRKeyShareExtension,
    KeyShareEntry,
    ServerKeyShareExtension,
    SignatureAlgorithmsExtension,
    SrvSupportedVersionsExtension,
    SupportedGroupsExtension,
    SupportedVersionsExtension,
    TLSExtension,
)
from tlslite.keyexchange import ECDHKeyExchange
from tlslite.messages import ClientHello, ServerHello
from tlslite.utils.codec import Parser, Writer
from tlslite.x509 import X509

from channel import FINISHED, Channel
from credential import SCHEMES, Refused, authentication_key, check, issue, private_key, scheme_of, sign, verify
from messages import (
    CERTIFICATE,
    DID,
    SIGNATURE_ALGORITHMS,
    VC,
    Broken,
    extension,
    handshake,
    read_did,
    read_parameters,
    read_proof,
    read_request,
    read_vc,
    to_sign,
    whole,
    write_did,
    write_parameters,
    write_proof,
    write_request,
    write_schemes,
    write_vc,
)

CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS = 1, 2, 8
CERTIFICATE_MESSAGE, CERTIFICATE_REQUEST, CERTIFICATE_VERIFY = 11, 13, 15
VERSION = (3, 4)


class Endpoint:
    """What client and server have in common: how they prove who they are, and check who the other is."""

    side = other = ""

    def __init__(self, socket, profile, plan):
        self.channel = Channel(socket, self.side == "client")
        self.profile = profile
        self.plan = plan
        self.own = plan.get("own") or {}
        self.expects = plan.get("expects") or {}
        self.exchange = None
        self.peer = None

    def run(self):
        try:
            self.shake_hands()
        except Exception:
            # The peer shall not wait for more; which alert is right is not what is compared here.
            self.channel.alert(AlertDescription.handshake_failure)
            raise
        return self.channel

    # Who we are.

    def show(self, mode, schemes):
        """Our identity message and its proof."""
        channel, key = self.channel, private_key(self.own["key"])
        scheme = scheme_of(key)
        if scheme not in schemes:
            raise Refused("no scheme in common")
        if mode == VC:
            channel.send_message(write_vc(self.profile, issue(self.own["issuer"], self.own["did"])))
        elif mode == DID:
            channel.send_message(write_did(self.profile, self.own["did"]))
        else:
            channel.send_message(write_certificate(bytes.fromhex(self.own["certificate"])))
        is_ssi = mode != CERTIFICATE
        kind = self.profile.did_verify if is_ssi else CERTIFICATE_VERIFY
        signature = sign(key, to_sign(self._context(is_ssi, self.side), channel.transcript.digest(channel.hash)))
        channel.send_message(write_proof(kind, scheme, signature))

    def finish(self):
        self.channel.send_message(self.channel.finished(self.side == "client"))

    # Who the other is.

    def meet(self, mode, message):
        """Checks the other's identity message, and the proof after it, which must be of this mode."""
        kind, body, whole_message = message
        kinds = {VC: self.profile.vc, DID: self.profile.did, CERTIFICATE: CERTIFICATE_MESSAGE}
        if kind != kinds[mode]:
            raise Broken("another message than the identity that was asked for")
        if mode == CERTIFICATE:
            key = self._certified(body)
        else:
            key = self._resolved(mode, body)
        channel = self.channel
        channel.transcript.update(bytearray(whole_message))
        kind, body, whole_message = channel.message()
        is_ssi = mode != CERTIFICATE
        if kind != (self.profile.did_verify if is_ssi else CERTIFICATE_VERIFY):
            raise Broken("an identity without its proof")
        scheme, signature = read_proof(body)
        if scheme not in SCHEMES:
            raise Broken("a scheme that was not offered")
        content = to_sign(self._context(is_ssi, self.other), channel.transcript.digest(channel.hash))
        verify(key, scheme, signature, content)
        channel.transcript.update(bytearray(whole_message))

    def check_finished(self, message=None):
        expected = self.channel.finished(self.other == "client")
        _, _, whole_message = message or self.channel.message()
        if whole_message != expected:
            raise Broken("a Finished that does not hold")
        self.channel.transcript.update(bytearray(whole_message))

    def _context(self, is_ssi, side):
        if is_ssi:
            return self.profile.context(side)
        return f"TLS 1.3, {side} CertificateVerify".encode("ascii")

    def _resolved(self, mode, body):
        if mode == VC:
            did = check(read_vc(self.profile, body), self.expects["issuers"], self.plan["now"])
        else:
            did = read_did(self.profile, body)
        if did not in self.expects["dids"]:
            raise Refused("a DID that is not expected")
        if self.profile.method_of(did) not in self.expects["methods"]:
            raise Refused("a DID of a method that was not offered")
        self.peer = did
        return authentication_key(self.plan["documents"][did], did)

    def _certified(self, body):
        """The key of the one certificate that is expected."""
        certificate = read_certificate(body)
        if certificate.hex() != self.expects["certificate"]:
            raise Refused("a certificate that is not expected")
        self.peer = "certificate"
        parsed = X509()
        parsed.parseBinary(bytearray(certificate))
        return parsed.publicKey

    # Keys.

    def new_share(self, group):
        self.group = group
        self.exchange = ECDHKeyExchange(group, VERSION)
        self.private = self.exchange.get_random_private_key()
        return KeyShareEntry().create(group, bytearray(self.exchange.calc_public_value(self.private)))

    def agree(self, entry):
        self.channel.protect_handshake(self.exchange.calc_shared_key(self.private, entry.key_exchange))


class Client(Endpoint):
    side, other = "client", "server"

    def shake_hands(self):
        mode = self.expects["mode"]
        parameters = None
        if mode != CERTIFICATE or self.own.get("mode", CERTIFICATE) != CERTIFICATE:
            methods = [] if mode == CERTIFICATE else self.expects["methods"]
            parameters = write_parameters(mode, methods)
        self._hello(parameters)
        self._encrypted_extensions()
        message = self.channel.message()
        request = None
        if message[0] in (self.profile.ssi_request, CERTIFICATE_REQUEST):
            request = self._request(mode, parameters, *message)
            message = self.channel.message()
        self.meet(mode, message)
        self.check_finished()
        self.channel.derive_application()
        self.channel.change_read()
        if request is not None:
            self.show(*request)
        self.finish()
        self.channel.change_write()
        self.channel.open()

    def _hello(self, parameters):
        channel, groups = self.channel, self.plan["groups"]
        hello = ClientHello().create(
            (3, 3), bytearray(os.urandom(32)), bytearray(os.urandom(32)), self.plan["suites"], extensions=[]
        )
        shares = ClientKeyShareExtension().create([self.new_share(groups[0])])
        hello.extensions = [
            SupportedVersionsExtension().create([VERSION]),
            SupportedGroupsExtension().create(groups),
            SignatureAlgorithmsExtension().create([divmod(scheme, 256) for scheme in SCHEMES]),
            shares,
        ]
        if parameters is not None:
            hello.extensions.append(TLSExtension(extType=self.profile.ssi_parameters).create(bytearray(parameters)))
        channel.send_message(bytes(hello.write()))
        answer, message = self._server_hello(hello)
        if answer.random == TLS_1_3_HRR:
            asked = answer.getExtension(ExtensionType.key_share)
            if asked is None or asked.selected_group not in groups[1:]:
                raise Broken("a second hello for nothing")
            channel.choose(answer.cipher_suite)
            channel.retry()
            channel.transcript.update(bytearray(message))
            shares.create([self.new_share(asked.selected_group)])
            channel.send_message(bytes(hello.write()))
            answer, message = self._server_hello(hello)
        share = answer.getExtension(ExtensionType.key_share)
        if answer.random == TLS_1_3_HRR or share is None or share.server_share.group != self.group:
            raise Broken("a server without a share of the group")
        channel.choose(answer.cipher_suite)
        channel.transcript.update(bytearray(message))
        self.agree(share.server_share)

    def _server_hello(self, hello):
        kind, body, message = self.channel.message()
        if kind != SERVER_HELLO:
            raise Broken("no ServerHello")
        answer = ServerHello().parse(Parser(bytearray(message[1:])))
        version = answer.getExtension(ExtensionType.supported_versions)
        if version is None or version.version != VERSION or answer.session_id != hello.session_id:
            raise Broken("not an answer of TLS 1.3")
        if answer.cipher_suite not in hello.cipher_suites:
            raise Broken("a cipher suite that was not offered")
        return answer, message

    def _encrypted_extensions(self):
        kind, body, message = self.channel.message()
        if kind != ENCRYPTED_EXTENSIONS:
            raise Broken("no EncryptedExtensions")
        extensions = Parser(bytearray(whole(body, lambda parser: parser.getVarBytes(2))))
        while extensions.getRemainingLength():
            if extensions.get(2) == self.profile.ssi_parameters:
                raise Broken("ssi_parameters where they may not be")
            extensions.getVarBytes(2)
        self.channel.transcript.update(bytearray(message))

    def _request(self, mode, parameters, kind, body, message):
        """How we have to prove who we are, and by which schemes."""
        self.channel.transcript.update(bytearray(message))
        if kind == CERTIFICATE_REQUEST:
            return CERTIFICATE, read_certificate_request(body)
        if parameters is None:
            raise Broken("an SSIRequest that nobody asked for")
        asked, methods, schemes = read_request(self.profile, body)
        if asked != (mode or self.own["mode"]):
            raise Broken("an SSIRequest of another mode")
        if mode != CERTIFICATE and not set(methods) <= set(self.expects["methods"]):
            raise Broken("an SSIRequest with methods that are not in common")
        if self.profile.method_of(self.own["did"]) not in methods:
            raise Refused("the server cannot resolve our DID")
        return asked, schemes


class Server(Endpoint):
    side, other = "server", "client"

    def shake_hands(self):
        hello, share = self._hello()
        parameters = hello.getExtension(self.profile.ssi_parameters)
        offered, methods = CERTIFICATE, []
        if parameters is not None:
            offered, methods = read_parameters(bytes(parameters.extData))
        mode = self.own["mode"]
        if mode != CERTIFICATE:
            if mode != offered or self.profile.method_of(self.own["did"]) not in methods:
                raise Refused("no identity that both can use")
        self._server_hello(hello, share)
        self.channel.send_message(handshake(ENCRYPTED_EXTENSIONS, b"\0\0"))
        requested = self.expects.get("mode")
        if requested in (VC, DID):
            common = [code for code in self.expects["methods"] if code in methods or offered == CERTIFICATE]
            if parameters is None or not common or requested != (offered or requested):
                raise Refused("the client cannot be asked for its identity")
            self.channel.send_message(write_request(self.profile, requested, common, SCHEMES))
        elif requested == CERTIFICATE:
            self.channel.send_message(write_certificate_request(SCHEMES))
        offered_schemes = hello.getExtension(ExtensionType.signature_algorithms).sigalgs
        self.show(mode, [high * 256 + low for high, low in offered_schemes])
        self.finish()
        self.channel.derive_application()
        self.channel.change_write()
        if requested is not None:
            self.meet(requested, self.channel.message())
        self.check_finished()
        self.channel.change_read()
        self.channel.open()

    def _hello(self):
        hello = self._client_hello()
        group = self.plan["groups"][0]
        suites = [suite for suite in self.plan["suites"] if suite in hello.cipher_suites]
        groups = hello.getExtension(ExtensionType.supported_groups)
        if not suites or groups is None or group not in groups.groups:
            raise Refused("no suite or no group in common")
        self.channel.choose(suites[0])
        share = share_of(hello, group)
        if share is None:
            before = hello.getExtension(self.profile.ssi_parameters)
            self.channel.retry()
            self._write_hello(hello, TLS_1_3_HRR, HRRKeyShareExtension().create(group))
            hello = self._client_hello()
            after = hello.getExtension(self.profile.ssi_parameters)
            if (before and before.extData) != (after and after.extData):
                raise Broken("other ssi_parameters in the second hello")
            share = share_of(hello, group)
        if share is None:
            raise Broken("no share of the group that was asked for")
        return hello, share

    def _client_hello(self):
        kind, body, message = self.channel.message()
        if kind != CLIENT_HELLO:
            raise Broken("no ClientHello")
        hello = ClientHello().parse(Parser(bytearray(message[1:])))
        versions = hello.getExtension(ExtensionType.supported_versions)
        if versions is None or VERSION not in versions.versions:
            raise Refused("a client without TLS 1.3")
        self.channel.transcript.update(bytearray(message))
        return hello

    def _server_hello(self, hello, share):
        own = self.new_share(share.group)
        self._write_hello(hello, bytearray(os.urandom(32)), ServerKeyShareExtension().create(own))
        self.agree(share)

    def _write_hello(self, hello, random, share):
        answer = ServerHello().create((3, 3), random, hello.session_id, self.channel.chosen)
        answer.extensions = [SrvSupportedVersionsExtension().create(VERSION), share]
        self.channel.send_message(bytes(answer.write()))
        if self.channel.is_first_hello:
            self.channel.send(ContentType.change_cipher_spec, b"\x01")
        self.channel.is_first_hello = False


def share_of(hello, group):
    shares = hello.getExtension(ExtensionType.key_share)
    return next((share for share in shares.client_shares if share.group == group), None)


def write_certificate(der):
    entry = Writer()
    entry.add_var_bytes(der, 3)
    entry.add_var_bytes(b"", 2)
    writer = Writer()
    writer.add_var_bytes(b"", 1)
    writer.add_var_bytes(bytes(entry.bytes), 3)
    return handshake(CERTIFICATE_MESSAGE, bytes(writer.bytes))


def read_certificate(body):
    """The first certificate of the chain."""

    def read(parser):
        if parser.getVarBytes(1):
            raise Broken("a certificate with a context")
        return parser.getVarBytes(3)

    entries = Parser(bytearray(whole(body, read)))
    return bytes(entries.getVarBytes(3))


def write_certificate_request(schemes):
    extensions = extension(SIGNATURE_ALGORITHMS, write_schemes(schemes))
    writer = Writer()
    writer.add_var_bytes(b"", 1)
    writer.add_var_bytes(extensions, 2)
    return handshake(CERTIFICATE_REQUEST, bytes(writer.bytes))


def read_certificate_request(body):
    """The schemes of a CertificateRequest."""

    def read(parser):
        parser.getVarBytes(1)
        return parser.getVarBytes(2)

    extensions = Parser(bytearray(whole(body, read)))
    while extensions.getRemainingLength():
        number, content = extensions.get(2), bytes(extensions.getVarBytes(2))
        if number == SIGNATURE_ALGORITHMS:
            return whole(content, lambda parser: list(parser.getVarList(2, 2)))
    raise Broken("a CertificateRequest without signature_algorithms")
