//! Presents a toy.

use selfsame_crypto::jws;
use serde_json::{Value, json};

use super::describe::PROOF_TYP;
use crate::{
    held::Held,
    rules::Binding,
    signer::{Signer, Unsigned},
    testing::NOW,
};

pub(super) fn draft(held: &Held, binding: &Binding, signer: &Signer) -> Unsigned {
    let claims = json!({
        "aud": binding.audience, "nonce": binding.nonce, "iat": NOW.0, "toy": held.raw,
    });
    Unsigned::new(signer, PROOF_TYP, &claims)
}

pub(super) fn bare(raw: &str) -> Option<String> {
    let proof = jws::Compact::parse(raw).ok()?.claims().ok()?;
    proof.get("toy").and_then(Value::as_str).map(str::to_owned)
}
