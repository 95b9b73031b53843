//! The signer of a token: its key's handle, and how verifiers find the public key.

use selfsame_crypto::{Algorithm, KeyHandle, encoding::base64_encode, jws};
use serde_json::{Map, Value};

use crate::evidence::{Evidence, Need, SignatureRequest, Step};

/// A signing key, and what the token's header says about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signer {
    /// The key's name in the key store.
    pub key: KeyHandle,
    /// The key's algorithm.
    pub algorithm: Algorithm,
    /// `kid`: identifies the key among the signer's keys.
    pub kid: Option<String>,
    /// `x5c`: the certificate chain as DER, leaf first; may be empty.
    pub x5c: Vec<Vec<u8>>,
}

impl Signer {
    /// A signer that is found by `kid`.
    pub fn with_kid(key: KeyHandle, algorithm: Algorithm, kid: impl Into<String>) -> Self {
        Self {
            key,
            algorithm,
            kid: Some(kid.into()),
            x5c: Vec::new(),
        }
    }

    /// The JOSE header of a token of type `typ`.
    pub(crate) fn header(&self, typ: &str) -> Value {
        let mut header = Map::new();
        header.insert("alg".to_owned(), Value::from(self.algorithm.as_str()));
        header.insert("typ".to_owned(), Value::from(typ));
        if let Some(kid) = &self.kid {
            header.insert("kid".to_owned(), Value::from(kid.as_str()));
        }
        if !self.x5c.is_empty() {
            let chain = self.x5c.iter().map(|der| Value::from(base64_encode(der)));
            header.insert("x5c".to_owned(), chain.collect());
        }
        Value::Object(header)
    }
}

/// A token without its signature.
#[derive(Clone, Debug)]
pub struct Unsigned {
    token: jws::Unsigned,
    key: KeyHandle,
}

impl Unsigned {
    /// A token of type `typ` over `payload`.
    pub(crate) fn new(signer: &Signer, typ: &str, payload: &Value) -> Self {
        let token = jws::Unsigned::new(&signer.header(typ), payload);
        Self {
            token,
            key: signer.key.clone(),
        }
    }

    /// The bytes to be signed.
    pub fn signing_input(&self) -> &[u8] {
        self.token.signing_input()
    }

    /// The required signature.
    pub fn request(&self) -> SignatureRequest {
        SignatureRequest {
            key: self.key.clone(),
            bytes: self.signing_input().to_vec(),
        }
    }

    /// The token, with its signature.
    pub fn finish(self, signature: &[u8]) -> String {
        self.token.finish(signature)
    }

    /// The token if its signature is in the evidence, otherwise the need for the signature.
    pub fn step(self, evidence: &Evidence) -> Step<String> {
        let request = self.request();
        match evidence.signature(&request) {
            Some(signature) => Step::Done(self.finish(signature)),
            None => Step::Needs(vec![Need::Signature(request)]),
        }
    }
}
