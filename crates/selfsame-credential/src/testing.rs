//! Shared by the tests of this crate: keys, an issuer, a holder and a context.

use selfsame_crypto::{Algorithm, KeyHandle, KeyType, PrivateKey, ctx::Ctx, time::UnixTime};
use serde_json::{Map, Value};

use crate::signer::{Signer, Unsigned};

/// The moment at which the tests happen.
pub(crate) const NOW: UnixTime = UnixTime(1_800_000_000);

/// A key pair with a DID derived from it.
pub(crate) struct Party {
    pub key: PrivateKey,
    pub did: String,
}

impl Party {
    pub fn new(key_type: KeyType) -> Self {
        let key = PrivateKey::generate(key_type).unwrap();
        let did = selfsame_did::key::create(key.public()).as_str().to_owned();
        Self { key, did }
    }

    /// The identifier of the key in the DID document.
    pub fn kid(&self) -> String {
        format!(
            "{}#{}",
            self.did,
            self.did.strip_prefix("did:key:").unwrap()
        )
    }

    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm()
    }

    pub fn handle(&self) -> KeyHandle {
        KeyHandle::of(self.key.public())
    }

    pub fn signer(&self) -> Signer {
        Signer::with_kid(self.handle(), self.algorithm(), self.kid())
    }

    pub fn sign(&self, token: Unsigned) -> String {
        let signature = self.key.sign(token.signing_input()).unwrap();
        token.finish(&signature)
    }

    /// A token with this header and payload, whatever they are.
    pub fn token(&self, header: &Value, payload: &Value) -> String {
        let token = selfsame_crypto::jws::Unsigned::new(header, payload);
        let signature = self.key.sign(token.signing_input()).unwrap();
        token.finish(&signature)
    }
}

pub(crate) fn ctx() -> Ctx {
    Ctx::new(NOW, [7; 32])
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}
