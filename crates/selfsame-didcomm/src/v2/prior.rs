//! The rotation of a DID: the JWT in `from_prior` (DIDComm v2.1, "DID Rotation").

use selfsame_crypto::Algorithm;
use selfsame_crypto::jws::{Compact, Unsigned};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, DidUrl, Relationship};
use serde_json::{Value, json};

use super::Documents;
use super::addressing;
use crate::error::{Error, Inconsistency};
use crate::message::Message;

/// The maximum length of the JWT in bytes. It has two DIDs, each of up to 4 kB, and the identifier of a key.
const MAX_BYTES: usize = 32 * 1024;

/// A sender's change from one DID to another, verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DidRotation {
    /// The DID that the sender had.
    pub prior: Did,
    /// The DID that the sender has now; `None` if the sender ends the relationship.
    pub now: Option<Did>,
    /// When the sender changed it.
    pub at: UnixTime,
}

/// Drafts the JWT for the change from the DID of `kid` to `now`, to be signed by the key `kid` of the prior DID.
pub fn draft_rotation(
    kid: &DidUrl,
    algorithm: Algorithm,
    now: Option<&Did>,
    at: UnixTime,
) -> Unsigned {
    let header = json!({ "typ": "JWT", "alg": algorithm.as_str(), "kid": kid });
    let claims = match now {
        Some(now) => json!({ "iss": kid.did, "sub": now, "iat": at.0 }),
        None => json!({ "iss": kid.did, "iat": at.0 }),
    };
    Unsigned::new(&header, &claims)
}

/// Verifies the message's `from_prior`: a key that authenticates the prior DID signed that the sender is now the
/// message's `from`, or empty. `None` if the message has none.
///
/// # Errors
/// `Unresolved` if the prior DID's document is missing; otherwise why it is refused.
pub fn verify_rotation(
    message: &Message,
    documents: &Documents,
) -> Result<Option<DidRotation>, Error> {
    let Some(text) = &message.from_prior else {
        return Ok(None);
    };
    let jwt = Compact::parse_within(text, MAX_BYTES)?;
    let claims = jwt.claims()?;
    let did = |name: &'static str| match claims.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Did::parse(text)
            .map(Some)
            .map_err(|_| Error::Malformed(name)),
        Some(_) => Err(Error::Malformed(name)),
    };
    let prior = did("iss")?.ok_or(Error::Missing("iss"))?;
    let now = did("sub")?;
    let at = claims
        .get("iat")
        .and_then(Value::as_u64)
        .ok_or(Error::Malformed("iat"))?;
    if now.as_ref() != message.from.as_ref().map(|from| &from.did) {
        return Err(Inconsistency::Rotation.into());
    }
    let kid = jwt.header.kid.as_deref().ok_or(Error::Missing("kid"))?;
    let kid = addressing::key(kid, "identifier of the signing key")?;
    if kid.did != prior {
        return Err(Inconsistency::Rotation.into());
    }
    let document = documents.get(&prior);
    let document = document.ok_or_else(|| Error::Unresolved(Box::new(prior.clone())))?;
    jwt.verify(&document.key(&kid, Relationship::Authentication)?)?;
    let at = UnixTime(at);
    Ok(Some(DidRotation { prior, now, at }))
}
