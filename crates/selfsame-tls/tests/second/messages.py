"""The paper's extension and messages as bytes: what is written, and what is read strictly."""

from dataclasses import dataclass

from tlslite.utils.codec import DecodeError, Parser, Writer

CERTIFICATE, DID, VC = 0, 1, 2  # AuthenticationMode
SIGNATURE_ALGORITHMS = 13  # RFC 8446, section 4.2


class Broken(Exception):
    """What the peer sent is not what the syntax allows."""


@dataclass(frozen=True)
class Profile:
    """One way to number what the paper leaves without numbers."""

    name: str
    ssi_parameters: int
    did: int
    vc: int
    ssi_request: int
    did_verify: int
    has_context: bool
    verify: str  # how "DIDVerify" is spelled in the context string
    methods: dict

    def context(self, side):
        return f"TLS 1.3, {side} {self.verify}".encode("ascii")

    def method_of(self, did):
        """The code of a DID's method."""
        parts = did.split(":")
        if len(parts) < 3 or parts[0] != "did" or not all(parts[:3]):
            raise Broken("not a DID")
        if parts[1] not in self.methods:
            raise Broken("a DID of an unknown method")
        return self.methods[parts[1]]


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "paper", 0xFF3C, 224, 225, 226, 227, False, "DIDVerify",
            {"iota": 0, "btcr": 1, "key": 224, "jwk": 225, "web": 226, "selfsame": 227, "cheqd": 228},
        ),
        Profile("links", 60, 30, 31, 32, 33, True, "DidVerify", {"ott": 1, "btc": 2, "eth": 3}),
    )
}


def handshake(kind, body):
    writer = Writer()
    writer.add(kind, 1)
    writer.add_var_bytes(body, 3)
    return bytes(writer.bytes)


def extension(number, body):
    writer = Writer()
    writer.add(number, 2)
    writer.add_var_bytes(body, 2)
    return bytes(writer.bytes)


def write_parameters(mode, methods):
    writer = Writer()
    writer.add(mode, 1)
    writer.add_var_bytes(bytes(methods), 1)
    return bytes(writer.bytes)


def read_parameters(body):
    """Mode and methods; mode 0 goes with an empty list, the others with one that is not."""

    def read(parser):
        return parser.get(1), list(parser.getVarBytes(1))

    mode, methods = whole(body, read)
    if mode not in (CERTIFICATE, DID, VC) or (mode == CERTIFICATE) != (not methods):
        raise Broken("ssi_parameters whose mode and methods do not go together")
    return mode, methods


def write_schemes(schemes):
    writer = Writer()
    writer.addVarSeq(schemes, 2, 2)
    return bytes(writer.bytes)


def write_request(profile, mode, methods, schemes):
    extensions = extension(profile.ssi_parameters, write_parameters(mode, methods))
    extensions += extension(SIGNATURE_ALGORITHMS, write_schemes(schemes))
    return handshake(profile.ssi_request, _with_context(profile, lambda writer: writer.add_var_bytes(extensions, 2)))


def read_request(profile, body):
    """Mode, methods and schemes of an SSIRequest; both extensions must always be present."""

    def read(parser):
        _context(profile, parser)
        return parser.getVarBytes(2)

    found = {}
    extensions = Parser(bytearray(whole(body, read)))
    try:
        while extensions.getRemainingLength():
            number = extensions.get(2)
            if number in found:
                raise Broken("an extension twice")
            found[number] = bytes(extensions.getVarBytes(2))
    except DecodeError as error:
        raise Broken("extensions end too early") from error
    if profile.ssi_parameters not in found or SIGNATURE_ALGORITHMS not in found:
        raise Broken("an SSIRequest without one of its two extensions")
    mode, methods = read_parameters(found[profile.ssi_parameters])
    schemes = whole(found[SIGNATURE_ALGORITHMS], lambda parser: list(parser.getVarList(2, 2)))
    return mode, methods, schemes


def write_vc(profile, vc):
    return handshake(profile.vc, _with_context(profile, lambda writer: writer.add_var_bytes(vc, 2)))


def read_vc(profile, body):
    def read(parser):
        _context(profile, parser)
        return bytes(parser.getVarBytes(2))

    return whole(body, read)


def write_did(profile, did):
    return write_did_with(profile, profile.method_of(did), did.encode("ascii"))


def write_did_with(profile, code, did):
    def write(writer):
        writer.add(code, 1)
        writer.add_var_bytes(did, 2)

    return handshake(profile.did, _with_context(profile, write))


def read_did(profile, body):
    """The DID, whose method must be the one that the byte before it says."""
    code, did = read_did_with(profile, body)
    try:
        did = did.decode("ascii")
    except UnicodeDecodeError as error:
        raise Broken("a DID that is not ASCII") from error
    if profile.method_of(did) != code:
        raise Broken("the method of a DID differs from its code")
    return did


def read_did_with(profile, body):
    """The code of the method and the DID as they are there."""

    def read(parser):
        _context(profile, parser)
        return parser.get(1), bytes(parser.getVarBytes(2))

    return whole(body, read)


def write_proof(kind, scheme, signature):
    """DIDVerify, and CertificateVerify, which has the same body."""
    writer = Writer()
    writer.add(scheme, 2)
    writer.add_var_bytes(signature, 2)
    return handshake(kind, bytes(writer.bytes))


def read_proof(body):
    return whole(body, lambda parser: (parser.get(2), bytes(parser.getVarBytes(2))))


def to_sign(context, transcript_hash):
    return b" " * 64 + context + b"\0" + bytes(transcript_hash)


def whole(body, read):
    """What `read` takes from the body, of which nothing may be left."""
    parser = Parser(bytearray(body))
    try:
        found = read(parser)
    except (DecodeError, SyntaxError) as error:
        raise Broken("a message ends too early") from error
    if parser.getRemainingLength():
        raise Broken("something is left at the end of a message")
    return found


def _with_context(profile, write):
    """A body with the empty request context of the authors' code before it, which the paper does not have."""
    writer = Writer()
    if profile.has_context:
        writer.add(0, 1)
    write(writer)
    return bytes(writer.bytes)


def _context(profile, parser):
    if profile.has_context and parser.getVarBytes(1):
        raise Broken("a request context that is not empty")
