//! Issues a toy.

use selfsame_crypto::PrivateKey;
use serde_json::{Value, json};

use super::describe::TYP;
use crate::signer::{Signer, Unsigned};

pub(super) fn draft(
    issuer: &str,
    holder: &PrivateKey,
    claims: &Value,
    signer: &Signer,
) -> Unsigned {
    let mut claims = claims.clone();
    claims["iss"] = issuer.into();
    claims["cnf"] = json!({ "jwk": holder.public().to_jwk().to_value() });
    Unsigned::new(signer, TYP, &claims)
}
