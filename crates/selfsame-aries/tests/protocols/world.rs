//! What the tests share: time, keys, and a key store that answers needs.

use std::collections::HashMap;
use std::sync::LazyLock;

use selfsame_aries::advance::{Advance, Outgoing, Outset};
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::{Incoming, Vocabulary};
use selfsame_credential::evidence::{Evidence, Need, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Prefix, Version};

/// Keys by number.
static KEYS: LazyLock<Vec<PrivateKey>> = LazyLock::new(|| {
    (0..4)
        .map(|_| PrivateKey::generate(KeyType::Ed25519).unwrap())
        .collect()
});

pub fn key(number: usize) -> VerKey {
    VerKey::new(KEYS[number].public().clone()).unwrap()
}

/// A context of its own for each number.
pub fn ctx(number: usize) -> Ctx {
    let mut seed = [3; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    Ctx::new(UnixTime(1_700_000_000), seed)
}

/// Runs a step until it has its signatures. Bytes that were signed for another key are found by the caller.
pub fn signed<T, E>(mut step: impl FnMut(&Evidence) -> Result<Step<T>, E>) -> Result<T, E> {
    let by_handle: HashMap<KeyHandle, &PrivateKey> = KEYS
        .iter()
        .map(|key| (KeyHandle::of(key.public()), key))
        .collect();
    let mut evidence = Evidence::default();
    for _ in 0..4 {
        match step(&evidence)? {
            Step::Done(done) => return Ok(done),
            Step::Needs(needs) => {
                for need in needs {
                    let Need::Signature(request) = need else {
                        panic!("a machine needs signatures alone");
                    };
                    let signature = by_handle[&request.key].sign(&request.bytes).unwrap();
                    evidence.insert_signature(request, signature);
                }
            }
        }
    }
    panic!("the step does not end");
}

/// What a record begins with, for messages like this type.
pub fn opening(kind: &MessageType) -> Outset {
    Outset {
        kind: kind.clone(),
        connection_id: None,
        parent_thread_id: None,
    }
}

/// Both prefixes.
pub const PREFIXES: [Prefix; 2] = [Prefix::Didcomm, Prefix::Legacy];

/// The message as it goes over the wire, read by the other side.
pub fn over_the_wire<M: Vocabulary>(message: &Message) -> Incoming<M> {
    let plaintext = message.write(Version::V1);
    let read = Message::read(&plaintext, Version::V1).unwrap();
    assert_eq!(read, *message, "a message that is written can be read");
    Incoming::read(&read).unwrap()
}

/// The only message of a step.
pub fn only<R>(advance: &Advance<R>) -> &Outgoing {
    assert_eq!(advance.send.len(), 1);
    &advance.send[0]
}

/// A record as it is read again.
pub fn stored<R: serde::Serialize + serde::de::DeserializeOwned>(record: &R) -> R {
    serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap()
}
