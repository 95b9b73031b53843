//! Attestations of verifiers (OpenID4VP 1.0 §12): somebody whom wallets trust states which key a verifier has.

use selfsame_crypto::jws::Compact;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::Chain;
use selfsame_crypto::{Jwk, PublicKey};
use selfsame_oauth::jwt::{Jwt, JwtTime};
use serde_json::Value;

use crate::error::Error;

/// The media type of an attestation, without `application/` (§12).
pub const TYP: &str = "verifier-attestation+jwt";
/// The member of a request object's header that contains the attestation (§5.9.3).
pub const HEADER: &str = "jwt";
/// How far the attester's clock may differ, in seconds.
const LEEWAY: u64 = 60;
/// The longest time that an attestation may still be valid, in seconds: two years.
const LONGEST: u64 = 2 * 366 * 86_400;
/// Maximum number of addresses in an attestation.
const ADDRESSES_MAX: usize = 64;

/// A verifier as an attester describes it.
#[derive(Clone, Debug)]
pub struct VerifierAttestation {
    /// The verifier's key.
    pub key: PublicKey,
    /// The addresses that answers may go to, if the attester restricts them.
    pub redirect_uris: Option<Vec<String>>,
}

impl VerifierAttestation {
    /// The attestation of a verifier, in the header of its request object (§5.9.3, §12). `name` is the client identifier
    /// without its prefix.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn of_object(
        name: &str,
        object: &Compact,
        anchors: &[Vec<u8>],
        now: UnixTime,
    ) -> Result<Self, Error> {
        let refuse = Error::invalid_request;
        let text = object.header.other.get(HEADER);
        let text = text.and_then(Value::as_str);
        let text =
            text.ok_or_else(|| refuse("the request object's header has no attestation (jwt)"))?;
        let attestation = Self::verify(text, name, anchors, now)?;
        let claims = object.claims().unwrap_or_default();
        let address = claims.get("response_uri").and_then(Value::as_str);
        // A request by a browser names no address.
        match address.is_none_or(|address| attestation.allows(address)) {
            true => Ok(attestation),
            false => Err(refuse(
                "the verifier's attestation does not list the address that the answer goes to",
            )),
        }
    }

    /// Verifies an attestation of this verifier, whose attester has a certificate of one of these anchors. `subject` is
    /// the client identifier without its prefix.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn verify(
        text: &str,
        subject: &str,
        anchors: &[Vec<u8>],
        now: UnixTime,
    ) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::invalid_request(format!("the verifier's attestation {reason}"));
        let jwt = Jwt::parse(text).map_err(|_| refuse("cannot be read"))?;
        if !jwt.header().is_of_type(TYP) {
            return Err(refuse("has not the type verifier-attestation+jwt"));
        }
        let attester = attester(&jwt, anchors, now).map_err(|why| refuse(&why))?;
        jwt.verify(&attester)
            .map_err(|_| refuse("is not signed with its certificate's key"))?;
        let times = JwtTime {
            now,
            leeway: LEEWAY,
            longest: LONGEST,
        };
        jwt.check_times(times)
            .map_err(|_| refuse("has expired, or does not say when it does"))?;
        if jwt.text("iss").is_none_or(str::is_empty) {
            return Err(refuse("does not name its issuer"));
        }
        if jwt.text("sub") != Some(subject) {
            return Err(refuse("is for another client"));
        }
        let key = jwt.claims().get("cnf").and_then(|cnf| cnf.get("jwk"));
        let key = key.and_then(|jwk| PublicKey::from_jwk(&Jwk::from_value(jwk).ok()?).ok());
        Ok(Self {
            key: key.ok_or_else(|| refuse("names no key"))?,
            redirect_uris: match jwt.claims().get("redirect_uris") {
                None => None,
                Some(value) => {
                    Some(addresses(value).ok_or_else(|| refuse("has malformed addresses"))?)
                }
            },
        })
    }

    /// Whether answers may go to this address (§12: an exact match).
    pub fn allows(&self, response_uri: &str) -> bool {
        let listed = self.redirect_uris.as_ref();
        listed.is_none_or(|listed| listed.iter().any(|one| one == response_uri))
    }
}

/// The key of the attester, whose certificates lead to one of these anchors.
fn attester(jwt: &Jwt, anchors: &[Vec<u8>], now: UnixTime) -> Result<PublicKey, String> {
    let x5c = jwt.header().x5c.as_deref();
    let x5c = x5c.ok_or("has no certificates of its issuer (x5c)")?;
    let chain =
        Chain::parse(x5c).map_err(|error| format!("has unreadable certificates: {error}"))?;
    chain
        .verify(anchors, now)
        .map_err(|error| format!("is by an issuer that is not trusted here: {error}"))?;
    Ok(chain.leaf_public_key().clone())
}

fn addresses(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?;
    let few = !list.is_empty() && list.len() <= ADDRESSES_MAX;
    let text = |one: &Value| one.as_str().map(str::to_owned);
    list.iter().map(text).collect::<Option<_>>().filter(|_| few)
}
