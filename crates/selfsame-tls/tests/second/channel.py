"""Records, transcript and key schedule of TLS 1.3 (RFC 8446) over a socket, on tlslite-ng's tools."""

import hashlib

from tlslite.constants import AlertDescription, CipherSuite, ContentType
from tlslite.handshakehashes import HandshakeHashes
from tlslite.messages import Message
from tlslite.recordlayer import RecordLayer
from tlslite.utils.cryptomath import HKDF_expand_label, derive_secret, secureHMAC

from messages import Broken, handshake

FINISHED, KEY_UPDATE, NEW_SESSION_TICKET = 20, 24, 4


class Alerted(Exception):
    """The peer ended the connection with an alert."""


class Channel:
    def __init__(self, socket, is_client):
        self.records = RecordLayer(socket)
        self.records.client = is_client
        self.records.version = (3, 3)
        self.transcript = HandshakeHashes()
        self.handshakes = bytearray()
        self.data = bytearray()
        self.is_closed = False
        self.is_first_hello = True
        self.suite = None

    # Records.

    def send(self, kind, body):
        for _ in self.records.sendRecord(Message(kind, bytearray(body))):
            pass

    def send_message(self, message):
        self.transcript.update(bytearray(message))
        self.send(ContentType.handshake, message)

    def _receive(self):
        for result in self.records.recvRecord():
            if result not in (0, 1):
                header, parser = result
                return header.type, bytes(parser.bytes)
        raise Broken("the stream ended")

    def _take_record(self):
        kind, body = self._receive()
        if kind == ContentType.change_cipher_spec and body == b"\x01":
            return
        if kind == ContentType.alert:
            if body[1] != AlertDescription.close_notify:
                raise Alerted(AlertDescription.toRepr(body[1]))
            self.is_closed = True
        elif kind == ContentType.handshake and body:
            self.handshakes += body
        elif kind == ContentType.application_data and self.suite and not self.handshakes:
            self.data += body
        else:
            raise Broken("a record that does not belong here")

    def message(self):
        """The next handshake message: its type, its body and all of it. It is not in the transcript yet."""
        while len(self.handshakes) < 4 or len(self.handshakes) < 4 + self._length():
            self._take_record()
            if self.is_closed:
                raise Broken("the end in the middle of the handshake")
        end = 4 + self._length()
        taken = bytes(self.handshakes[:end])
        del self.handshakes[:end]
        return taken[0], taken[4:], taken

    def _length(self):
        return int.from_bytes(self.handshakes[1:4], "big")

    # Data.

    def say(self, text):
        self.send(ContentType.application_data, text)

    def hear(self, end=b"\n"):
        while not self.data.endswith(end) and not self.is_closed:
            self._take_record()
            while self.handshakes:
                self._after_handshake(*self.message())
        return bytes(self.data)

    def _after_handshake(self, kind, body, _message):
        if kind == KEY_UPDATE and len(body) == 1:
            secrets = self.records.calcTLS1_3KeyUpdate_sender(self.suite, self.client_secret, self.server_secret)
            self.client_secret, self.server_secret = secrets
            if body[0]:
                self.update_keys()
        elif kind != NEW_SESSION_TICKET:
            raise Broken("a message after the handshake")

    def update_keys(self):
        self.send(ContentType.handshake, handshake(KEY_UPDATE, b"\0"))
        secrets = self.records.calcTLS1_3KeyUpdate_reciever(self.suite, self.client_secret, self.server_secret)
        self.client_secret, self.server_secret = secrets

    def close(self):
        self.send(ContentType.alert, bytes([1, AlertDescription.close_notify]))
        while not self.is_closed:
            self._take_record()

    def alert(self, description):
        self.send(ContentType.alert, bytes([2, description]))

    # Keys (RFC 8446, section 7.1).

    def choose(self, suite):
        self.hash = "sha384" if suite in CipherSuite.sha384PrfSuites else "sha256"
        self.size = hashlib.new(self.hash).digest_size
        self.chosen = suite

    def retry(self):
        """Puts a hash in place of the first hello (section 4.4.1)."""
        digest = self.transcript.digest(self.hash)
        self.transcript = HandshakeHashes()
        self.transcript.update(bytearray(handshake(254, digest)))

    def protect_handshake(self, shared):
        nothing = bytearray(self.size)
        early = secureHMAC(nothing, nothing, self.hash)
        salt = derive_secret(early, bytearray(b"derived"), None, self.hash)
        self.secret = secureHMAC(salt, shared, self.hash)
        self.client_secret = self._derive(b"c hs traffic")
        self.server_secret = self._derive(b"s hs traffic")
        self.records.version = (3, 4)
        self.records.tls13record = True
        self._prepare(self.client_secret, self.server_secret)
        self.records.changeReadState()
        self.records.changeWriteState()

    def derive_application(self):
        """After the server's Finished; the keys are taken when both sides are done."""
        salt = derive_secret(self.secret, bytearray(b"derived"), None, self.hash)
        self.secret = secureHMAC(salt, bytearray(self.size), self.hash)
        self.next = self._derive(b"c ap traffic"), self._derive(b"s ap traffic")

    def change_read(self):
        if self.handshakes:
            raise Broken("a message across a change of keys")
        self._prepare(*self.next)
        self.records.changeReadState()

    def change_write(self):
        self._prepare(*self.next)
        self.records.changeWriteState()

    def open(self):
        self.client_secret, self.server_secret = self.next
        self.suite = self.chosen

    def _prepare(self, client, server):
        self.records.calcTLS1_3PendingState(self.chosen, client, server, ["python"])

    def _derive(self, label):
        return derive_secret(self.secret, bytearray(label), self.transcript, self.hash)

    def finished(self, by_client):
        base = self.client_secret if by_client else self.server_secret
        key = HKDF_expand_label(base, bytearray(b"finished"), bytearray(), self.size, self.hash)
        return handshake(FINISHED, secureHMAC(key, self.transcript.digest(self.hash), self.hash))
