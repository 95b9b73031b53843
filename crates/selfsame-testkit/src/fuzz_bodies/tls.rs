//! Properties of TLS: its messages, and both state machines from the first byte on.

use std::sync::{Arc, LazyLock};

use selfsame_credential::format::cwt::CoseMessage;
use selfsame_crypto::PublicKey;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::cbor::CborItem;
use selfsame_tls::codec::Message;
use selfsame_tls::identity::{
    CoseVc, Identities, IdentityPolicy, PaperVc, Peer, PeerKind, PeerPolicy, SsiIdentity, Staples,
};
use selfsame_tls::profile::{DRAFT, LINKS, PAPER, SELFSAME};
use selfsame_tls::resumption::{EarlyData, Revalidate, Sessions, StrikeRegister, TicketKeys};
use selfsame_tls::{ClientAuth, ClientConfig, Config, Connection, ServerConfig, SigningKey};

const TRACE: &str = include_str!("../../../../vectors/tls/rfc8448-simple-1rtt.txt");
const IDENTITY: &str = include_str!("../../../../vectors/tls/identity-messages.txt");

/// An Ed25519 key for tests only (PKCS#8): the private key of RFC 8032 §7.1, test 1.
pub(super) const KEY: &str = "302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

/// A handshake message in each profile, or a credential: each has exactly one encoding.
pub fn tls_message(data: &[u8]) -> bool {
    let mut is_read = PaperVc::parse(data).is_ok();
    if let Ok(claims) = CoseVc::from_cbor(data) {
        assert_eq!(claims.to_cbor(), data, "claims have one form");
        is_read = true;
    }
    is_read |= CoseMessage::parse(data).is_ok();
    for profile in [&PAPER, &LINKS, &SELFSAME, &DRAFT] {
        if let Ok(message) = Message::parse(data, profile) {
            let written = message.write(profile);
            assert_eq!(written.as_deref(), Ok(data), "a message has one form");
            is_read = true;
        }
    }
    is_read
}

/// Bytes for a server, and the same bytes for a client. Neither authenticates a peer, returns data, or refuses without
/// sending anything. The input counts as accepted if the server answers with a handshake.
pub fn tls_connection(data: &[u8]) -> bool {
    let ctx = Ctx::new(UnixTime(1_790_000_000), [7; 32]);
    let mut server = Connection::server(&PARTIES.1, &ctx);
    let mut client = Connection::client(&PARTIES.0, &ctx).expect("a client begins");
    drop(client.take_outgoing());
    let mut is_answered = false;
    for end in [&mut client, &mut server] {
        let taken = end.receive(data, &ctx);
        assert!(!end.is_open(), "a peer without a key gets no connection");
        assert!(end.take_incoming().is_empty(), "no data comes through");
        let sent = end.take_outgoing();
        is_answered = sent.first() == Some(&22);
        if let Err(selfsame_tls::Error::Refused(_)) = taken {
            assert!(!sent.is_empty(), "a refusal is said");
            assert!(end.receive(data, &ctx).is_err(), "an end is for good");
        }
    }
    is_answered
}

/// A client and a server, with an attacker between them that changes the bytes as the input says. Both complete the
/// handshake only if their transcripts agree, and then each knows the other. Neither receives data before that, except
/// that a server may receive early data exactly as it was sent. The input counts as accepted if both complete the
/// handshake.
pub fn tls_machines(data: &[u8]) -> bool {
    let (first, edits) = data.split_first().unwrap_or((&0, &[]));
    let sessions = Sessions::new(4);
    let (client, server) = &*ENDS;
    let client = client.clone().with_sessions(sessions.clone());
    let client = Arc::new(client.with_early_data());
    let register = Arc::new(StrikeRegister::new(4, UnixTime(0)));
    let server = ServerConfig::clone(server);
    let server = &Arc::new(server.with_early_data(EarlyData::new(register)));
    // Some inputs begin with a ticket.
    if first % 2 == 1 {
        let mut ends = Ends::new(&client, server, 1);
        assert!(
            ends.meet(&mut [].iter()),
            "unchanged bytes give two connections"
        );
    }
    let mut ends = Ends::new(&client, server, 2);
    // Some inputs send early data.
    if first / 2 % 2 == 1 {
        let sent = ends.client.send_early(EARLY);
        ends.sent = sent.expect("a client that has begun");
    }
    let is_open = ends.meet(&mut edits.iter());
    if is_open {
        ends.check_agreement();
    }
    is_open
}

/// The two ends of a connection.
struct Ends {
    client: Connection,
    server: Connection,
    ctx: Ctx,
    /// The number of bytes of early data that were sent.
    sent: usize,
    /// The early data that the server received.
    early: Vec<u8>,
}

/// The early data that is sent.
const EARLY: &[u8] = b"before the handshake is done";

impl Ends {
    fn new(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>, seed: u8) -> Self {
        let ctx = |seed| Ctx::new(UnixTime(1_790_000_000), [seed; 32]);
        Self {
            client: Connection::client(client, &ctx(seed)).expect("a client begins"),
            server: Connection::server(server, &ctx(seed.wrapping_add(100))),
            ctx: ctx(0),
            sent: 0,
            early: Vec::new(),
        }
    }

    /// Carries bytes both ways, changed by the edits, until nothing moves. Returns whether both handshakes are
    /// complete.
    fn meet(&mut self, edits: &mut std::slice::Iter<'_, u8>) -> bool {
        for _ in 0..8 {
            for is_up in [true, false] {
                let (from, to) = match is_up {
                    true => (&mut self.client, &mut self.server),
                    false => (&mut self.server, &mut self.client),
                };
                for piece in changed(from.take_outgoing(), edits) {
                    let taken = to.receive(&piece, &self.ctx);
                    assert!(to.take_incoming().is_empty(), "the peer has sent no data");
                    self.early.extend(to.take_early_data());
                    assert!(
                        EARLY.starts_with(&self.early),
                        "early data is what was sent"
                    );
                    if taken.is_err() {
                        assert!(!to.is_open(), "a refusal opens no connection");
                        assert!(to.receive(&[], &self.ctx).is_err(), "an end is for good");
                    }
                }
            }
        }
        self.client.is_open() && self.server.is_open()
    }

    /// Checks that both have the same keys and know each other.
    fn check_agreement(&mut self) {
        let (mut one, mut other) = ([0; 32], [1; 32]);
        let label = "EXPORTER fuzz";
        self.client
            .export(label, b"", &mut one)
            .expect("it is open");
        self.server
            .export(label, b"", &mut other)
            .expect("it is open");
        assert_eq!(one, other, "both ends heard the same");
        let taken = match self.client.is_early_data_taken() {
            true => self.sent,
            false => 0,
        };
        assert_eq!(self.early.len(), taken, "both know what came early");
        let resumed = [&self.client, &self.server].map(|end| {
            let peer = end.peer().expect("it is open");
            assert!(
                matches!(peer.kind, PeerKind::Did(_)),
                "each knows the other"
            );
            peer.resumed.is_some()
        });
        assert_eq!(resumed[0], resumed[1], "both resume or neither");
    }
}

/// The pieces in which bytes arrive, after the changes of the input.
fn changed(mut bytes: Vec<u8>, edits: &mut std::slice::Iter<'_, u8>) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    if bytes.is_empty() {
        return pieces;
    }
    let count = edits.next().copied().unwrap_or(0) % 4;
    for _ in 0..count {
        let mut next = || edits.next().copied().unwrap_or(0);
        let (kind, at, with) = (next(), [next(), next()], next());
        let at = usize::from(u16::from_be_bytes(at));
        let at = at.checked_rem(bytes.len()).unwrap_or(0);
        match kind % 8 {
            0..=2 => {
                let rest = bytes.split_off(at);
                pieces.push(std::mem::replace(&mut bytes, rest));
            }
            4 | 5 => bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= with),
            6 => bytes.truncate(at),
            _ => bytes.insert(at, with),
        }
    }
    pieces.push(bytes);
    pieces
}

/// Believes every peer still, since nothing changes meanwhile.
#[derive(Debug)]
struct Believer;

impl Revalidate for Believer {
    fn epoch(&self) -> u64 {
        0
    }

    fn still_holds(&self, _peer: &Peer, _epoch: u64, _now: UnixTime) -> bool {
        true
    }
}

/// A client and a server with the same DID, which each expects of the other.
fn ends(did: &Did, key: &SigningKey) -> (ClientConfig, ServerConfig) {
    let policy = || PeerPolicy {
        certificates: None,
        identities: Some(IdentityPolicy::of_dids(&[did.method()], [did.clone()])),
    };
    let common = || Config {
        identities: Identities {
            certificate: None,
            ssi: Some(SsiIdentity {
                did: did.clone(),
                key: key.clone(),
                vc: None,
                staples: Staples::default(),
            }),
        },
        revalidate: Some(Arc::new(Believer)),
        ..Config::default()
    };
    let client = ClientConfig::new(common(), policy()).expect("a client");
    let server = ServerConfig::new(common(), ClientAuth::Required(policy())).expect("a server");
    (client, server)
}

/// Two parties whose DIDs contain their keys, so that nothing has to be resolved.
static ENDS: LazyLock<(ClientConfig, Arc<ServerConfig>)> = LazyLock::new(|| {
    let key = SigningKey::from_pkcs8(&hex_decode(KEY).expect("hex")).expect("a key");
    let public = PublicKey::from_spki(&key.spki().expect("a public key")).expect("a public key");
    let did = selfsame_did::key::create(&public);
    let (client, server) = ends(&did, &key);
    let server = server.with_tickets(TicketKeys::new([5; 32]));
    (client, Arc::new(server))
});

/// Handshakes that succeed, whole and in pieces, with and without a ticket.
pub(super) fn machines_seeds() -> Vec<Vec<u8>> {
    // Three splits in each flight. Each has a byte that would change something if the edit were of another kind.
    let splits = [3, 0, 0, 9, 0x41, 0, 0, 60, 0x42, 0, 0, 120, 0x43].repeat(4);
    let in_pieces = |first: u8| [vec![first], splits.clone()].concat();
    let plain = [vec![0], vec![1], vec![3]];
    plain.into_iter().chain([0, 1, 3].map(in_pieces)).collect()
}

/// A client and a server that authenticate each other by their DIDs.
static PARTIES: LazyLock<(Arc<ClientConfig>, Arc<ServerConfig>)> = LazyLock::new(|| {
    let key = SigningKey::from_pkcs8(&hex_decode(KEY).expect("hex")).expect("a key");
    let did = Did::parse("did:web:server.example").expect("a DID");
    let (client, server) = ends(&did, &key);
    (Arc::new(client), Arc::new(server))
});

/// The messages of the vectors.
pub(super) fn message_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for text in [TRACE, IDENTITY] {
        for (name, bytes) in values(text) {
            let is_message = [
                "_hello",
                "_finished",
                "_extensions",
                "_request",
                "_vc",
                "_did",
                "_verify",
            ];
            // An extension alone is not a message.
            let is_part = name.contains("_parameters_");
            let ends = is_message.iter().any(|end| name.ends_with(end));
            if name == "certificate" || ends && !is_part {
                seeds.push(bytes);
            }
        }
    }
    seeds
}

/// A ClientHello.
pub(super) fn connection_seeds() -> Vec<Vec<u8>> {
    let ctx = Ctx::new(UnixTime(1_790_000_000), [8; 32]);
    let mut client = Connection::client(&PARTIES.0, &ctx).expect("a client begins");
    vec![client.take_outgoing()]
}

/// The names and values of a vector file.
fn values(text: &str) -> Vec<(String, Vec<u8>)> {
    let mut values: Vec<(String, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match (line.split_once(':'), values.last_mut()) {
            (Some((name, value)), _) => values.push((name.to_owned(), value.trim().to_owned())),
            (None, Some((_, value))) => value.push_str(line.trim()),
            (None, None) => {}
        }
    }
    let decoded = values.into_iter();
    decoded
        .map(|(name, hex)| (name, hex_decode(&hex).expect("hex")))
        .collect()
}
