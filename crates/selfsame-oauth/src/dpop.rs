//! Demonstrating proof of possession (RFC 9449): proofs that a token's user has a key, and the server's nonces.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, PublicKey};
use url::Url;

use crate::error::{Code, Error};
use crate::jwt::Jwt;
use crate::spent::SpentId;

/// The algorithms that proofs may be signed with.
pub const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::Es256,
    Algorithm::EdDsa,
    Algorithm::Ps256,
    Algorithm::Rs256,
    Algorithm::Es384,
];
/// The type of proofs (RFC 9449 §4.2).
pub(crate) const TYPE: &str = "dpop+jwt";
/// The longest `jti`, in bytes.
const MAX_JTI: usize = 256;
const TIME: usize = 8;
const MAC: usize = 16;

/// A proof that holds for a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenKey {
    /// The thumbprint of the key, in base64url: `jkt` of tokens that are bound to it.
    pub thumbprint: String,
    /// The identifier of the proof, which must be accepted once only.
    pub spent: SpentId,
}

/// What a proof is checked against.
#[derive(Clone, Copy, Debug)]
pub struct DpopRequest<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// Its URL; query and fragment do not count.
    pub url: &'a Url,
    /// The access token that comes with it, at a resource.
    pub access_token: Option<&'a str>,
    /// The time.
    pub now: UnixTime,
    /// How old a proof may be, and how far its clock may differ, in seconds.
    pub age: u64,
}

/// The nonces of a server (RFC 9449 §8). They need no record: each states its time under a keyed hash.
#[derive(Clone, Debug)]
pub struct DpopNonces {
    /// The key that authenticates them.
    pub key: SealingKey,
    /// Their lifetime, in seconds.
    pub lifetime: u64,
}

/// Checks the proof of a request.
///
/// # Errors
/// `invalid_dpop_proof`; `use_dpop_nonce` if nonces are required and the proof has none of ours, or one that has expired.
pub fn check(
    proof: &str,
    request: &DpopRequest<'_>,
    nonces: Option<&DpopNonces>,
) -> Result<ProvenKey, Error> {
    let jwt = Jwt::parse(proof).map_err(|_| invalid("the DPoP proof is malformed"))?;
    // RFC 9449 §4.3, in its order.
    let header = jwt.header();
    if !header.is_of_type(TYPE) || !ALGORITHMS.contains(&header.alg) {
        return Err(invalid("the DPoP proof has the wrong type or algorithm"));
    }
    let key = header.jwk.as_ref().map(PublicKey::from_jwk);
    let key = key.and_then(Result::ok);
    let key = key.ok_or(invalid("the DPoP proof has no usable key"))?;
    jwt.verify(&key)
        .map_err(|_| invalid("the signature of the DPoP proof is wrong"))?;
    if jwt.text("htm") != Some(request.method) || !is_of(jwt.text("htu"), request.url) {
        return Err(invalid("the DPoP proof is for another request"));
    }
    if let Some(token) = request.access_token {
        let expected = base64url_encode(&sha256(token.as_bytes()));
        let is_equal = |given: &str| ct_eq(given.as_bytes(), expected.as_bytes());
        if !jwt.text("ath").is_some_and(is_equal) {
            return Err(invalid("the DPoP proof is for another access token"));
        }
    }
    if let Some(nonces) = nonces {
        nonces.check(jwt.text("nonce"), request.now)?;
    }
    let thumbprint = base64url_encode(&key.thumbprint());
    let spent = fresh(&jwt, &thumbprint, request)?;
    Ok(ProvenKey { thumbprint, spent })
}

fn fresh(jwt: &Jwt, thumbprint: &str, request: &DpopRequest<'_>) -> Result<SpentId, Error> {
    let issued = jwt.time("iat").ok().flatten();
    let issued = issued.ok_or(invalid("iat of the DPoP proof is missing"))?;
    let end = issued.plus(request.age);
    if issued > request.now.plus(request.age) || end < request.now {
        return Err(invalid("the DPoP proof is too old, or of the future"));
    }
    let jti = jwt.text("jti");
    let jti = jti.filter(|jti| !jti.is_empty() && jti.len() <= MAX_JTI);
    let jti = jti.ok_or(invalid("jti of the DPoP proof is missing or too long"))?;
    Ok(SpentId::of("dpop", thumbprint, jti, end.plus(1)))
}

/// RFC 9449 §4.3: the URL without query and fragment, after the normalisation of RFC 3986 §6.2.
fn is_of(htu: Option<&str>, url: &Url) -> bool {
    let Some(mut named) = htu.and_then(|text| Url::parse(text).ok()) else {
        return false;
    };
    let mut ours = url.clone();
    for one in [&mut named, &mut ours] {
        one.set_query(None);
        one.set_fragment(None);
    }
    named == ours
}

impl DpopNonces {
    /// A nonce for the next proofs.
    #[must_use]
    pub fn make(&self, ctx: &Ctx) -> String {
        let mut bytes = ctx.now().0.to_be_bytes().to_vec();
        let mac = self.mac(&bytes);
        bytes.extend_from_slice(&mac);
        base64url_encode(&bytes)
    }

    fn check(&self, nonce: Option<&str>, now: UnixTime) -> Result<(), Error> {
        let wanted = Error::new(Code::UseDpopNonce, "the DPoP proof needs a nonce of ours");
        let bytes = nonce.and_then(|nonce| base64url_decode(nonce).ok());
        let bytes = bytes.ok_or_else(|| wanted.clone())?;
        let parts = bytes.split_first_chunk::<TIME>();
        let (time, mac) = parts.ok_or_else(|| wanted.clone())?;
        let made = UnixTime(u64::from_be_bytes(*time));
        let is_ours = ct_eq(&self.mac(time), mac);
        match is_ours && made <= now && now < made.plus(self.lifetime) {
            true => Ok(()),
            false => Err(wanted),
        }
    }

    fn mac(&self, time: &[u8]) -> Vec<u8> {
        let mac = self.key.derive(b"dpop nonce").mac(time);
        mac.into_iter().take(MAC).collect()
    }
}

const fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidDpopProof, reason)
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::{KeyType, PrivateKey};
    use serde_json::{Value, json};

    use super::*;
    use crate::jwt::tests::signed;

    const NOW: UnixTime = UnixTime(10_000);

    fn claims() -> Value {
        json!({"htm": "POST", "htu": "https://op.example/token", "iat": NOW.0, "jti": "1"})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    fn checked(
        claims: Value,
        token: Option<&str>,
        nonces: Option<&DpopNonces>,
    ) -> Result<ProvenKey, Error> {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let header = json!({"typ": "dpop+jwt", "jwk": key.public().to_jwk().to_value()});
        let url = Url::parse("https://op.example/token?a=b").unwrap();
        let request = DpopRequest {
            method: "POST",
            url: &url,
            access_token: token,
            now: NOW,
            age: 60,
        };
        check(&signed(&key, header, claims), &request, nonces)
    }

    #[test]
    fn a_proof_for_this_request_names_the_key_and_counts_once() {
        let proven = checked(claims(), None, None).unwrap();
        assert_eq!(proven.thumbprint.len(), 43);
        assert_eq!(proven.spent.expires, NOW.plus(61));
    }

    #[test]
    fn a_proof_for_another_request_or_time_is_refused() {
        for bad in [
            with("htm", json!("GET")),
            with("htu", json!("https://op.example/other")),
            with("htu", json!("http://op.example/token")),
            with("iat", json!(NOW.0 - 61)),
            with("iat", json!(NOW.0 + 61)),
            with("jti", json!("")),
            with("jti", Value::Null),
        ] {
            let error = checked(bad.clone(), None, None).unwrap_err();
            assert_eq!(error.code, Code::InvalidDpopProof, "{bad}");
        }
    }

    #[test]
    fn a_proof_at_a_resource_is_for_one_access_token() {
        assert!(checked(claims(), Some("token"), None).is_err());
        let ath = base64url_encode(&sha256(b"token"));
        assert!(checked(with("ath", json!(ath)), Some("token"), None).is_ok());
        assert!(checked(with("ath", json!(ath)), Some("other"), None).is_err());
    }

    #[test]
    fn a_proof_by_another_key_than_it_names_is_refused() {
        let (key, other) = (
            PrivateKey::generate(KeyType::P256).unwrap(),
            PrivateKey::generate(KeyType::P256).unwrap(),
        );
        let url = Url::parse("https://op.example/token").unwrap();
        let request = DpopRequest {
            method: "POST",
            url: &url,
            access_token: None,
            now: NOW,
            age: 60,
        };
        let jwk = other.public().to_jwk().to_value();
        for header in [
            json!({"typ": "dpop+jwt", "jwk": jwk}),
            json!({"typ": "dpop+jwt"}),
            json!({"typ": "JWT", "jwk": key.public().to_jwk().to_value()}),
        ] {
            let error = check(&signed(&key, header, claims()), &request, None).unwrap_err();
            assert_eq!(error.code, Code::InvalidDpopProof);
        }
    }

    #[test]
    fn a_nonce_is_ours_and_has_an_end() {
        let nonces = |byte| DpopNonces {
            key: SealingKey::from_bytes([byte; 32]),
            lifetime: 60,
        };
        let made = |at| nonces(1).make(&Ctx::new(at, [2; 32]));
        let check = |nonce: Value| {
            let checked = checked(with("nonce", nonce), None, Some(&nonces(1)));
            checked.map_err(|error| error.code)
        };
        assert!(check(json!(made(NOW))).is_ok());
        let foreign = nonces(3).make(&Ctx::new(NOW, [2; 32]));
        for bad in [
            json!(made(UnixTime(NOW.0 - 60))),
            json!(made(NOW.plus(1))),
            json!(foreign),
            json!("AAAA"),
            Value::Null,
        ] {
            assert_eq!(check(bad), Err(Code::UseDpopNonce));
        }
    }
}
