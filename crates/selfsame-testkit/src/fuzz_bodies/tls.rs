//! Rules for TLS: its messages, and both machines from the first byte on.

use std::sync::{Arc, LazyLock};

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_tls::codec::Message;
use selfsame_tls::identity::{
    Identities, IdentityPolicy, PaperVc, PeerPolicy, SsiIdentity, Staples,
};
use selfsame_tls::profile::{LINKS, PAPER};
use selfsame_tls::{ClientAuth, ClientConfig, Config, Connection, ServerConfig, SigningKey};

const TRACE: &str = include_str!("../../../../vectors/tls/rfc8448-simple-1rtt.txt");
const IDENTITY: &str = include_str!("../../../../vectors/tls/identity-messages.txt");

/// An Ed25519 key for nobody else (PKCS#8): the private key of RFC 8032 §7.1, test 1.
const KEY: &str = "302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

/// A handshake message in each profile, or a credential: what is read has one form.
pub fn tls_message(data: &[u8]) -> bool {
    let mut is_read = PaperVc::parse(data).is_ok();
    for profile in [&PAPER, &LINKS] {
        if let Ok(message) = Message::parse(data, profile) {
            let written = message.write(profile);
            assert_eq!(written.as_deref(), Ok(data), "a message has one form");
            is_read = true;
        }
    }
    is_read
}

/// Bytes for a server, and the same for a client: neither lets anybody in, gives out data, or stays silent where it
/// refuses. It counts as read if the server answers with a handshake.
pub fn tls_connection(data: &[u8]) -> bool {
    let ctx = Ctx::new(UnixTime(1_790_000_000), [7; 32]);
    let mut server = Connection::server(&PARTIES.1, &ctx);
    let mut client = Connection::client(&PARTIES.0, &ctx).expect("a client begins");
    drop(client.take_outgoing());
    let mut is_answered = false;
    for end in [&mut client, &mut server] {
        let taken = end.receive(data, &ctx);
        assert!(!end.is_open(), "nobody is let in without a key");
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

/// A client and a server that know each other by their DIDs.
static PARTIES: LazyLock<(Arc<ClientConfig>, Arc<ServerConfig>)> = LazyLock::new(|| {
    let key = SigningKey::from_pkcs8(&hex_decode(KEY).expect("hex")).expect("a key");
    let did = Did::parse("did:web:server.example").expect("a DID");
    let policy = || PeerPolicy {
        certificates: None,
        identities: Some(IdentityPolicy::of_dids(&["web"], [did.clone()])),
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
        ..Config::default()
    };
    let client = ClientConfig::new(common(), policy()).expect("a client");
    let server = ServerConfig::new(common(), ClientAuth::Required(policy())).expect("a server");
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
            if name == "certificate" || is_message.iter().any(|end| name.ends_with(end)) {
                seeds.push(bytes);
            }
        }
    }
    seeds
}

/// A client's hello.
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
