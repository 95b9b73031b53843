//! The relying party: the client that people sign in to, with the key by which it authenticates.

use std::sync::Arc;

use selfsame_bench::Error;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::{KeyError, KeyType, PrivateKey};
use serde_json::{Value, json};

use crate::clock::wall_clock;

/// Where people are sent back. No server listens there.
pub const REDIRECT_URI: &str = "https://rp.example/callback";
/// How long an assertion is valid, in seconds, as in the study's plan.
const ASSERTION_S: u64 = 60;

/// What the client and the provider sign with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SignedWith {
    /// RSA of 2048 bits, RS256.
    Rsa,
    /// P-256, ES256.
    Ec,
}

impl SignedWith {
    /// The algorithm's name in JOSE.
    pub const fn algorithm(self) -> &'static str {
        match self {
            Self::Rsa => "RS256",
            Self::Ec => "ES256",
        }
    }

    fn key(self) -> Result<PrivateKey, KeyError> {
        match self {
            Self::Rsa => PrivateKey::generate_rsa(),
            Self::Ec => PrivateKey::generate(KeyType::P256),
        }
    }
}

/// A relying party.
#[derive(Clone)]
pub struct BenchParty {
    /// Its identifier.
    pub client_id: Arc<str>,
    /// What it signs with.
    pub signed_with: SignedWith,
    key: Arc<PrivateKey>,
}

/// A code verifier with its challenge (RFC 7636 §4).
pub struct CodeProof {
    /// The verifier.
    pub verifier: String,
    /// The challenge, by S256.
    pub challenge: String,
}

impl CodeProof {
    /// A fresh one.
    pub fn new() -> Self {
        let verifier = unique();
        let challenge = base64url_encode(&sha256(verifier.as_bytes()));
        Self {
            verifier,
            challenge,
        }
    }
}

impl BenchParty {
    /// A relying party with a fresh key.
    ///
    /// # Errors
    /// If no key can be made.
    pub fn new(signed_with: SignedWith) -> Result<Self, Error> {
        let key = signed_with.key().map_err(std::io::Error::other)?;
        Ok(Self {
            client_id: format!("bench-{}", unique()).into(),
            signed_with,
            key: Arc::new(key),
        })
    }

    /// Its public key.
    pub fn jwk(&self) -> Value {
        let mut jwk = self.key.public().to_jwk().to_value();
        jwk["alg"] = self.signed_with.algorithm().into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// An assertion for this audience (RFC 7523 §3).
    ///
    /// # Errors
    /// If the key can't sign.
    pub fn assertion(&self, audience: &str) -> Result<String, Error> {
        let now = wall_clock().0;
        let header = json!({"alg": self.signed_with.algorithm(), "typ": "JWT"});
        let claims = json!({
            "iss": &*self.client_id,
            "sub": &*self.client_id,
            "aud": audience,
            "iat": now,
            "exp": now + ASSERTION_S,
            "jti": unique(),
        });
        let unsigned = Unsigned::new(&header, &claims);
        let signature = self.key.sign(unsigned.signing_input());
        let signature = signature.map_err(std::io::Error::other)?;
        Ok(unsigned.finish(&signature))
    }
}

/// A text that no other call returns.
pub fn unique() -> String {
    base64url_encode(&random_seed())
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::jws::Compact;

    use super::*;

    #[test]
    fn an_assertion_is_signed_by_the_partys_key_and_no_two_are_alike() {
        for signed_with in [SignedWith::Rsa, SignedWith::Ec] {
            let party = BenchParty::new(signed_with).unwrap();
            let [one, other] = [(), ()].map(|()| party.assertion("https://op/token").unwrap());
            assert_ne!(one, other);
            let assertion = Compact::parse(&one).unwrap();
            assertion.verify(party.key.public()).unwrap();
            let claims = assertion.claims().unwrap();
            assert_eq!(claims["sub"], *party.client_id);
            assert_eq!(party.jwk()["alg"], signed_with.algorithm());
        }
    }
}
