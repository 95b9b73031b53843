//! Metadata of an issuer that it has signed (OpenID4VCI 1.0 §12.2.3): all of them as the claims of a JWT.

use selfsame_crypto::jws::{Compact, Unsigned};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, PublicKey, json};
use serde_json::{Map, Value};

use crate::error::Error;

/// The media type by which they are asked for.
pub const MEDIA_TYPE: &str = "application/jwt";
/// `typ`, spelt without a 4.
pub const TYP: &str = "openidvci-issuer-metadata+jwt";
/// Maximum length of the token, in bytes.
const MAX_BYTES: usize = 512 * 1024;
/// Tolerated clock difference, in seconds.
const LEEWAY: u64 = 60;
/// The algorithms that they may be signed with.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Es384];
const ADVICE: &str = "Tell the issuer; nothing was sent to it.";

/// Who signs metadata, and when.
#[derive(Clone, Copy, Debug)]
pub struct SignedTerms<'a> {
    /// The header, which names the key and its algorithm; `typ` is added.
    pub header: &'a Map<String, Value>,
    /// The issuer's identifier.
    pub subject: &'a str,
    /// Who vouches for the metadata.
    pub signer: &'a str,
    /// When they are signed.
    pub issued_at: UnixTime,
    /// Until when they hold.
    pub expires_at: UnixTime,
}

/// The token without its signature. `metadata` is the JSON document.
///
/// # Errors
/// `Setup` if it is no JSON object.
pub fn draft(metadata: &[u8], terms: &SignedTerms<'_>) -> Result<Unsigned, Error> {
    let limits = json::Limits {
        max_bytes: metadata.len(),
        ..crate::limits()
    };
    let Ok(Value::Object(mut claims)) = json::parse(metadata, &limits) else {
        return Err(Error::Setup("the metadata are no JSON object".to_owned()));
    };
    claims.insert("iss".to_owned(), terms.signer.into());
    claims.insert("sub".to_owned(), terms.subject.into());
    claims.insert("iat".to_owned(), terms.issued_at.0.into());
    claims.insert("exp".to_owned(), terms.expires_at.0.into());
    let mut header = terms.header.clone();
    header.insert("typ".to_owned(), TYP.into());
    Ok(Unsigned::new(&header.into(), &claims.into()))
}

/// Signed metadata that were read. Who signed them is still to be judged.
#[derive(Clone, Debug)]
pub struct SignedMetadata {
    token: Compact,
}

impl SignedMetadata {
    /// Reads what the issuer with this identifier signed.
    ///
    /// # Errors
    /// `Counterpart` for another type, algorithm or issuer, and for what is not valid now.
    pub fn read(body: &[u8], issuer: &str, now: UnixTime) -> Result<Self, Error> {
        let text = std::str::from_utf8(body).map_err(|_| bad("are not a JWT"))?;
        let token =
            Compact::parse_within(text.trim(), MAX_BYTES).map_err(|_| bad("are not a JWT"))?;
        if !token.header.is_of_type(TYP) {
            return Err(bad("have another type than openidvci-issuer-metadata+jwt"));
        }
        if !ALGORITHMS.contains(&token.header.alg) {
            return Err(bad("are signed with an algorithm that is not accepted"));
        }
        let Ok(Value::Object(claims)) = token.claims() else {
            return Err(bad("are not a JSON object"));
        };
        if claims.get("sub").and_then(Value::as_str) != Some(issuer) {
            return Err(bad("are those of another issuer"));
        }
        if claims.get("iss").is_some_and(|iss| !iss.is_string()) {
            return Err(bad("name their signer in a way that can't be read"));
        }
        let time = |name: &str| claims.get(name).map(Value::as_u64);
        match time("iat") {
            Some(Some(iat)) if iat <= now.plus(LEEWAY).0 => {}
            _ => {
                return Err(bad(
                    "do not say when they were signed, or were in the future",
                ));
            }
        }
        match time("exp") {
            None => {}
            Some(Some(exp)) if UnixTime(exp).plus(LEEWAY) > now => {}
            Some(_) => return Err(bad("have expired")),
        }
        Ok(Self { token })
    }

    /// The certificates (DER) of the key that signed them, if they are named.
    #[must_use]
    pub fn x5c(&self) -> Option<&[Vec<u8>]> {
        self.token.header.x5c.as_deref()
    }

    /// The name of the key that signed them.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.token.header.kid.as_deref()
    }

    /// Whether this key signed them.
    #[must_use]
    pub fn is_by(&self, key: &PublicKey) -> bool {
        self.token.verify(key).is_ok()
    }

    /// The metadata as JSON. What the token says of itself is among them.
    #[must_use]
    pub fn into_document(self) -> Vec<u8> {
        self.token.payload
    }
}

fn bad(what: &str) -> Error {
    Error::counterpart(format!("the issuer's signed metadata {what}"), ADVICE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selfsame_crypto::{KeyType, PrivateKey};
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://issuer.example";
    const NOW: UnixTime = UnixTime(1_800_000_000);

    fn key() -> PrivateKey {
        PrivateKey::generate(KeyType::P256).unwrap()
    }

    fn signed(key: &PrivateKey, header: &Value, claims: &Value) -> String {
        let draft = Unsigned::new(header, claims);
        let signature = key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    fn made(key: &PrivateKey) -> String {
        let header = Map::from_iter([("alg".to_owned(), json!("ES256"))]);
        let terms = SignedTerms {
            header: &header,
            subject: ISSUER,
            signer: "did:example:1",
            issued_at: NOW,
            expires_at: NOW.plus(60),
        };
        let draft = draft(br#"{"credential_issuer":"https://issuer.example"}"#, &terms).unwrap();
        let signature = key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    #[test]
    fn what_an_issuer_signs_is_read_again_with_all_its_members() {
        let key = key();
        let read = SignedMetadata::read(made(&key).as_bytes(), ISSUER, NOW).unwrap();
        assert!(read.is_by(key.public()) && !read.is_by(tests::key().public()));
        assert_eq!((read.x5c(), read.kid()), (None, None));
        let document: Value = serde_json::from_slice(&read.into_document()).unwrap();
        assert_eq!(document["credential_issuer"], ISSUER);
        assert_eq!(document["sub"], ISSUER);
        assert_eq!(document["iss"], "did:example:1");
    }

    #[test]
    fn metadata_of_another_issuer_type_or_time_are_refused() {
        let key = key();
        let right = json!({"credential_issuer": ISSUER, "sub": ISSUER, "iat": NOW.0});
        let header = json!({"typ": TYP, "alg": "ES256"});
        let read = |header: &Value, change: Value| {
            let mut claims = right.clone();
            let changed = change.as_object().unwrap().clone();
            claims.as_object_mut().unwrap().extend(changed);
            let token = signed(&key, header, &claims);
            SignedMetadata::read(token.as_bytes(), ISSUER, NOW).map(|_| ())
        };
        read(&header, json!({})).unwrap();
        read(&header, json!({"exp": NOW.0 + 1, "iss": ISSUER})).unwrap();
        for wrong in [
            json!({"sub": "https://other.example"}),
            json!({"sub": null}),
            json!({"iat": null}),
            json!({"iat": NOW.0 + 61}),
            json!({"iat": "now"}),
            json!({"exp": NOW.0 - 60}),
            json!({"exp": "later"}),
            json!({"iss": 7}),
        ] {
            assert!(read(&header, wrong.clone()).is_err(), "{wrong}");
        }
        for typ in ["openid4vci-issuer-metadata+jwt", "JWT"] {
            assert!(read(&json!({"typ": typ, "alg": "ES256"}), json!({})).is_err());
        }
        assert!(read(&json!({"alg": "ES256"}), json!({})).is_err());
    }

    #[test]
    fn metadata_that_are_no_object_are_not_signed() {
        let header = Map::new();
        let terms = SignedTerms {
            header: &header,
            subject: ISSUER,
            signer: ISSUER,
            issued_at: NOW,
            expires_at: NOW,
        };
        for wrong in [&b"[]"[..], b"", b"{"] {
            assert!(draft(wrong, &terms).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = SignedMetadata::read(text.as_bytes(), ISSUER, NOW);
        }
    }
}
