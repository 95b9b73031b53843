//! Single-use credentials: the digest in them, the handle that uses them up, and their use or revocation.

use selfsame_crypto::{
    encoding::{base64url_decode, base64url_encode},
    hash::{ct_eq, sha256_parts},
    time::UnixTime,
};
use selfsame_did::Did;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The claim that makes a credential single-use: an object with the one member `digest`. It is never hidden.
pub const CLAIM: &str = "single_use";
/// The selectively disclosable claim with the handle. A holder that has shown it has given up control of the
/// credential.
pub const HANDLE: &str = "single_use_handle";

const DIGEST: &str = "digest";
/// The domain of digests; the registry's machine uses an equal one.
const DOMAIN: &[u8] = b"selfsame/use/1";

/// The reference of a credential to its use.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Reference {
    /// The digest under which its handle is registered.
    pub digest: [u8; 32],
}

/// The use or revocation of a single-use credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Use {
    /// Whether it was used up or revoked.
    pub action: Action,
    /// The DID that did it.
    pub by: Did,
    /// When the registry accepted it.
    pub at: UnixTime,
    /// The number of its transaction in the registry.
    pub seq_no: u64,
}

/// What a handle can do to a credential.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It was used up.
    Spent,
    /// It was revoked, by its issuer or on the issuer's behalf.
    Revoked,
}

/// Why a credential's reference can't be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SingleUseError {
    /// The claim is not as specified.
    #[error("single_use is not as specified")]
    Malformed,
    /// The claim was selectively disclosed, so the holder could have withheld it.
    #[error("single_use must not be selectively disclosed")]
    Hidden,
    /// The handle is malformed, or belongs to another credential.
    #[error("the handle does not belong to this credential")]
    Handle,
}

/// The digest under which a handle is registered. It covers the type, so that a delegation for one type can't be used
/// for credentials of another.
#[must_use]
pub fn digest(kind: &str, handle: &[u8; 32]) -> [u8; 32] {
    // A length in memory fits 64 bits.
    let length = u64::try_from(kind.len()).unwrap_or(u64::MAX).to_be_bytes();
    sha256_parts(&[DOMAIN, &length, kind.as_bytes(), handle])
}

/// The claims of a credential of this type with this handle, by name: [`CLAIM`] and [`HANDLE`].
#[must_use]
pub fn claims(kind: &str, handle: &[u8; 32]) -> [(&'static str, Value); 2] {
    let digest = base64url_encode(&digest(kind, handle));
    [
        (CLAIM, json!({ DIGEST: digest })),
        (HANDLE, Value::from(base64url_encode(handle))),
    ]
}

impl Reference {
    /// The reference in a payload as it was signed; `None` if the credential is not single-use.
    pub fn in_payload(payload: &Value) -> Result<Option<Self>, SingleUseError> {
        let Some(claim) = payload.get(CLAIM) else {
            return Ok(None);
        };
        let members = claim.as_object().ok_or(SingleUseError::Malformed)?;
        if members.len() != 1 {
            return Err(SingleUseError::Malformed);
        }
        let digest = members.get(DIGEST).and_then(bytes);
        let digest = digest.ok_or(SingleUseError::Malformed)?;
        Ok(Some(Self { digest }))
    }

    /// The handle among disclosed claims; `None` if it was withheld.
    pub fn handle(&self, claims: &Value) -> Result<Option<[u8; 32]>, SingleUseError> {
        let Some(claim) = claims.get(HANDLE) else {
            return Ok(None);
        };
        let handle = bytes(claim).ok_or(SingleUseError::Handle)?;
        let kind = claims.get("vct").and_then(Value::as_str);
        let known = digest(kind.unwrap_or_default(), &handle);
        if ct_eq(&known, &self.digest) {
            Ok(Some(handle))
        } else {
            Err(SingleUseError::Handle)
        }
    }
}

impl Action {
    /// The action in a sentence such as "spent by …".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spent => "spent",
            Self::Revoked => "revoked",
        }
    }
}

fn bytes(value: &Value) -> Option<[u8; 32]> {
    let bytes = base64url_decode(value.as_str()?).ok()?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIND: &str = "https://issuer.example/types/prescription";

    proptest! {
        #[test]
        fn what_is_issued_is_read_again(handle: [u8; 32]) {
            let mut payload = json!({ "vct": KIND });
            for (name, value) in claims(KIND, &handle) {
                payload[name] = value;
            }
            let reference = Reference::in_payload(&payload).unwrap().unwrap();
            prop_assert_eq!(reference.digest, digest(KIND, &handle));
            prop_assert_eq!(reference.handle(&payload), Ok(Some(handle)));
            payload["vct"] = json!("another type");
            prop_assert_eq!(reference.handle(&payload), Err(SingleUseError::Handle));
        }
    }

    #[test]
    fn the_digest_is_the_registrys() {
        // SHA-256 of the domain, the type's length in eight bytes, the type, and the handle.
        let parts = [
            b"selfsame/use/1".as_slice(),
            &[0, 0, 0, 0, 0, 0, 0, 1],
            b"v",
            &[7; 32],
        ];
        let expected = selfsame_crypto::hash::sha256(&parts.concat());
        assert_eq!(digest("v", &[7; 32]), expected);
    }

    #[test]
    fn a_claim_that_is_not_as_specified_is_refused() {
        let good = base64url_encode(&[1; 32]);
        for claim in [
            json!(true),
            json!({}),
            json!({ "digest": 1 }),
            json!({ "digest": "" }),
            json!({ "digest": base64url_encode(&[1; 31]) }),
            json!({ "digest": format!("{good}=") }),
            json!({ "digest": good, "more": 1 }),
        ] {
            let read = Reference::in_payload(&json!({ CLAIM: claim }));
            assert_eq!(read, Err(SingleUseError::Malformed), "{claim}");
        }
        assert_eq!(Reference::in_payload(&json!({})), Ok(None));
    }
}
