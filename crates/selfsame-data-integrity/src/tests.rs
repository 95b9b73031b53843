//! Proofs of the specifications' examples and of our own, and what is wrong with others.

mod chains;
mod examples;
mod options;
mod properties;

use selfsame_crypto::encoding::multibase_decode;
use selfsame_crypto::{PrivateKey, PublicKey};
use serde_json::{Map, Value, json};

use crate::{
    Contexts, Cryptosuite, IntegrityError, ProofOptions, ProofPurpose, Secured, UnsignedProof,
    prepare,
};

/// The Ed25519 key of a `did:key` verification method, or that of a curve.
fn key_of(method: &str) -> PublicKey {
    PublicKey::from_multikey(method.split_once('#').unwrap().1).unwrap()
}

/// The results of a document's proofs.
fn verified(document: Value) -> Vec<Result<(), IntegrityError>> {
    let secured = Secured::of(document).unwrap();
    secured.verify(&keys_of(&secured), &Contexts::bundled())
}

fn keys_of(secured: &Secured) -> Vec<Option<PublicKey>> {
    let proofs = secured.proofs().iter();
    proofs.map(|proof| Some(key_of(&proof.method))).collect()
}

/// The private Ed25519 key of a seed.
fn ed25519(seed: &[u8]) -> PrivateKey {
    let prefix = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    PrivateKey::from_pkcs8(&[prefix.as_slice(), seed].concat()).unwrap()
}

/// The private key of the examples (EdDSA Cryptosuites §B).
fn example_key() -> PrivateKey {
    let bytes = multibase_decode("z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq").unwrap();
    ed25519(&bytes[2..])
}

fn method_of(key: &PrivateKey) -> String {
    let multikey = key.public().to_multikey();
    format!("did:key:{multikey}#{multikey}")
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// A small document without contexts.
fn plain() -> Map<String, Value> {
    object(json!({"name": "Alice", "numbers": [1, 2.5], "nested": {"b": true, "a": null}}))
}

fn prepared(
    document: Map<String, Value>,
    options: &ProofOptions<'_>,
    key: &PrivateKey,
) -> Result<UnsignedProof, IntegrityError> {
    prepare(
        document,
        options,
        key.public().key_type(),
        &Contexts::bundled(),
    )
}

fn signed(
    document: Map<String, Value>,
    options: &ProofOptions<'_>,
    key: &PrivateKey,
) -> Map<String, Value> {
    let unsigned = prepared(document, options, key).unwrap();
    let signature = key.sign(unsigned.bytes()).unwrap();
    unsigned.signed(&signature).unwrap()
}

fn options(method: &str) -> ProofOptions<'_> {
    ProofOptions::new(
        Cryptosuite::EddsaJcs2022,
        method,
        ProofPurpose::AssertionMethod,
    )
}
