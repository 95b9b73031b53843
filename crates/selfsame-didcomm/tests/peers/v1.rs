//! Envelopes of v1 from ACA-Py to us and back.

use std::collections::BTreeMap;

use selfsame_crypto::PrivateKey;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_did::legacy::base58_of_key;
use selfsame_didcomm::v1::{Envelope, pack, unpack};
use serde_json::{Value, json};

const MESSAGE: &str = "{\"@id\":\"1\",\"content\":\"Your hovercraft is full of eels ✓\"}";
/// The last one's key has a text of 42 characters.
const SEEDS: [&str; 3] = [
    "0101010101010101010101010101010101010101010101010101010101010101",
    "0202020202020202020202020202020202020202020202020202020202020202",
    "00000000000000000000000000000000000000000000000100000000000358aa",
];

fn key(seed: &str) -> PrivateKey {
    let start = hex_decode("302e020100300506032b657004220420").unwrap();
    PrivateKey::from_pkcs8(&[start, hex_decode(seed).unwrap()].concat()).unwrap()
}

fn said(job: &Value) -> Value {
    super::said("SELFSAME_ACAPY_PYTHON", "v1.py", job)
}

/// Every sender, nobody included, with every recipient.
fn pairs() -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
    let senders = SEEDS.map(Some).into_iter().chain([None]);
    senders.flat_map(|from| SEEDS.map(|to| (from, to)))
}

#[test]
#[ignore = "needs Python with acapy-agent: cargo xtask cross didcomm"]
fn what_acapy_packs_we_unpack() {
    for (from, to) in pairs() {
        let names = SEEDS.map(|seed| base58_of_key(key(seed).public()));
        let job = json!({ "do": "pack", "to": names, "from": from, "message": MESSAGE });
        let answer = said(&job);
        let envelope = answer["envelope"].as_str().unwrap();
        let own = key(to);
        let own_agreement = AgreementPrivate::of_ed25519(&own).unwrap();
        let ring = BTreeMap::from([(base58_of_key(own.public()), own_agreement)]);
        let envelope = Envelope::read(envelope.as_bytes()).unwrap();
        let unpacked = unpack(&envelope, &ring).unwrap();
        assert_eq!(unpacked.plaintext.expose(), MESSAGE.as_bytes());
        assert_eq!(unpacked.recipient, *own.public());
        assert_eq!(unpacked.sender, from.map(|from| key(from).public().clone()));
    }
}

#[test]
#[ignore = "needs Python with acapy-agent: cargo xtask cross didcomm"]
fn what_we_pack_acapy_unpacks_and_what_is_altered_it_refuses() {
    for (from, to) in pairs() {
        let keys = SEEDS.map(|seed| key(seed).public().clone());
        let ctx = Ctx::new(UnixTime(1), [7; 32]);
        let sender = from.map(key);
        let envelope = pack(MESSAGE.as_bytes(), &keys, sender.as_ref(), &ctx).unwrap();
        let envelope = String::from_utf8(envelope).unwrap();
        let answer = said(&json!({ "do": "unpack", "seed": to, "envelope": envelope }));
        assert_eq!(answer["message"], MESSAGE, "{answer}");
        assert_eq!(answer["recipient"], base58_of_key(key(to).public()));
        let expected = sender.map(|sender| base58_of_key(sender.public()));
        assert_eq!(answer["sender"], json!(expected));
        let mut altered: Value = serde_json::from_str(&envelope).unwrap();
        altered["ciphertext"] = json!(hex_encode(b"no"));
        let job = json!({ "do": "unpack", "seed": to, "envelope": altered.to_string() });
        assert!(said(&job)["refused"].is_string());
    }
}
