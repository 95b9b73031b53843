//! An authenticator and a browser in one, which tests can make misbehave.

use std::collections::BTreeMap;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::{JwkParams, KeyType, PrivateKey, hash};
use serde_json::{Value, json};

/// An authenticator that holds one passkey.
pub struct Authenticator {
    /// The site for which it answers.
    pub rp_id: String,
    /// The page on which it is used.
    pub origin: String,
    /// The flags: UP 1, UV 4, BE 8, BS 16.
    pub flags: u8,
    /// How often it has answered.
    pub sign_count: u32,
    /// Further members of client data.
    pub client_data: BTreeMap<String, Value>,
    /// The user handle that it was given.
    pub user_handle: String,
    /// The format of its statement about itself.
    pub format: &'static str,
    id: Vec<u8>,
    key: PrivateKey,
}

impl Authenticator {
    /// A new one, on a page of this origin.
    pub fn new(kind: KeyType, rp_id: &str, origin: &str) -> Self {
        let key = PrivateKey::generate(kind).unwrap();
        Self {
            rp_id: rp_id.to_owned(),
            origin: origin.to_owned(),
            flags: 1 | 4,
            sign_count: 0,
            client_data: BTreeMap::new(),
            user_handle: String::new(),
            format: "none",
            id: hash::sha256(key.public().bytes()).to_vec(),
            key,
        }
    }

    /// What it answers to creation options.
    pub fn create(&mut self, options: &Value) -> Value {
        self.user_handle = text(&options["user"]["id"]);
        let client_data = self.client_data("webauthn.create", &options["challenge"]);
        let mut data = self.data(0x40);
        data.extend([7; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.cose());
        let mut object = vec![0xa3, 0x63];
        object.extend(b"fmt");
        object.extend(cbor_text(self.format));
        object.extend(b"\x67attStmt\xa0\x68authData");
        object.extend(cbor_bytes(&data));
        json!({
            "id": base64url_encode(&self.id),
            "rawId": base64url_encode(&self.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url_encode(client_data.as_bytes()),
                "attestationObject": base64url_encode(&object),
                "transports": ["internal", "hybrid", "carrier-pigeon"],
            },
        })
    }

    /// What it answers to request options.
    pub fn answer(&mut self, options: &Value) -> Value {
        let client_data = self.client_data("webauthn.get", &options["challenge"]);
        let data = self.data(0);
        let message = [&data[..], &hash::sha256(client_data.as_bytes())].concat();
        let signature = self.key.sign(&message).unwrap();
        let signature = match self.key.public().key_type() {
            KeyType::P256 => der(&signature),
            _ => signature,
        };
        json!({
            "id": base64url_encode(&self.id),
            "rawId": base64url_encode(&self.id),
            "type": "public-key",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url_encode(client_data.as_bytes()),
                "authenticatorData": base64url_encode(&data),
                "signature": base64url_encode(&signature),
                "userHandle": self.user_handle,
            },
        })
    }

    fn client_data(&self, kind: &str, challenge: &Value) -> String {
        let mut members = json!({"type": kind, "challenge": challenge, "origin": self.origin});
        let more = self.client_data.clone();
        members.as_object_mut().unwrap().extend(more);
        members.to_string()
    }

    fn data(&self, more: u8) -> Vec<u8> {
        let mut data = hash::sha256(self.rp_id.as_bytes()).to_vec();
        data.push(self.flags | more);
        data.extend(self.sign_count.to_be_bytes());
        data
    }

    fn cose(&self) -> Vec<u8> {
        match self.key.public().to_jwk().params {
            JwkParams::Ec { x, y, .. } => {
                let (x, y) = (cbor_bytes(&x), cbor_bytes(&y));
                [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21][..], &x, &[0x22], &y].concat()
            }
            JwkParams::Okp { x, .. } => {
                [&[0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21][..], &cbor_bytes(&x)].concat()
            }
            _ => panic!("no passkey is of this kind here"),
        }
    }
}

/// The text of a JSON value.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// One bit of a text in base64url, flipped.
#[allow(dead_code, reason = "not every test that shares this file flips bits")]
pub fn flipped(text: &Value, bit: usize) -> Value {
    let mut bytes = base64url_decode(text.as_str().unwrap()).unwrap();
    bytes[bit / 8] ^= 1 << (bit % 8);
    base64url_encode(&bytes).into()
}

fn cbor_bytes(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let head = match length {
        0..=23 => vec![0x40 | u8::try_from(length).unwrap()],
        24..=255 => vec![0x58, u8::try_from(length).unwrap()],
        _ => [&[0x59][..], &length.to_be_bytes()].concat(),
    };
    [&head, bytes].concat()
}

fn cbor_text(text: &str) -> Vec<u8> {
    let mut item = cbor_bytes(text.as_bytes());
    item[0] |= 0x20;
    item
}

/// r ‖ s in DER.
fn der(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(32);
    let integer = |number: &[u8]| {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let mut magnitude = number[zeros..].to_vec();
        if magnitude[0] & 0x80 != 0 {
            magnitude.insert(0, 0);
        }
        [&[2, u8::try_from(magnitude.len()).unwrap()][..], &magnitude].concat()
    };
    let both = [integer(r), integer(s)].concat();
    [&[0x30, u8::try_from(both.len()).unwrap()][..], &both].concat()
}
