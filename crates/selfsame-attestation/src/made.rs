//! Attestations and proofs of possession as a wallet and its attester make them. Each is a draft that its key signs
//! elsewhere.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, Jwk, PublicKey};
use serde_json::{Map, Value, json};

use crate::{client, key};

/// What the header of an attestation says about the key that signs it.
#[derive(Clone, Copy, Debug)]
pub struct AttesterHeader<'a> {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The name of the key among those of the attester.
    pub kid: Option<&'a str>,
    /// The certificates (DER) of the key, its own first, without the anchor; none if the key is known otherwise.
    pub x5c: &'a [Vec<u8>],
}

impl AttesterHeader<'_> {
    fn of_type(&self, typ: &str) -> Value {
        let mut header = Map::new();
        header.insert("typ".to_owned(), typ.into());
        header.insert("alg".to_owned(), self.algorithm.as_str().into());
        if let Some(kid) = self.kid {
            header.insert("kid".to_owned(), kid.into());
        }
        if !self.x5c.is_empty() {
            let chain = self.x5c.iter().map(|der| Value::from(base64_encode(der)));
            header.insert("x5c".to_owned(), chain.collect());
        }
        Value::Object(header)
    }
}

/// The attestation of one instance of a wallet (draft -07 §5.1, OpenID4VCI 1.0 Appendix E). It names nothing that
/// identifies the instance but its key.
#[derive(Clone, Copy, Debug)]
pub struct ClientAttestationDraft<'a> {
    /// The name of the attester.
    pub attester: &'a str,
    /// The client, which is the same for all instances.
    pub client_id: &'a str,
    /// The key of the instance: one for each issuer, since it could be recognised.
    pub instance: &'a PublicKey,
    /// The name of the wallet for people.
    pub wallet_name: Option<&'a str>,
    /// Its lifetime, in seconds.
    pub lifetime: u64,
}

impl ClientAttestationDraft<'_> {
    /// The attestation without its signature.
    pub fn draft(&self, header: &AttesterHeader<'_>, now: UnixTime) -> Unsigned {
        let mut claims = json!({
            "iss": self.attester,
            "sub": self.client_id,
            "iat": now.0,
            "exp": now.plus(self.lifetime).0,
            "cnf": {"jwk": self.instance.to_jwk().to_value()},
        });
        if let (Some(name), Some(claims)) = (self.wallet_name, claims.as_object_mut()) {
            claims.insert("wallet_name".to_owned(), name.into());
        }
        Unsigned::new(&header.of_type(client::TYP), &claims)
    }
}

/// The proof that an instance has its attested key (draft -07 §5.2).
#[derive(Clone, Copy, Debug)]
pub struct PopDraft<'a> {
    /// The client.
    pub client_id: &'a str,
    /// The identifier of the authorization server.
    pub server: &'a str,
    /// The server's challenge, if it gives any.
    pub challenge: Option<&'a str>,
}

impl PopDraft<'_> {
    /// The proof by this key without its signature. Each sending needs one of its own: a server takes a `jti` once.
    pub fn draft(&self, key: &PublicKey, ctx: &Ctx) -> Unsigned {
        let header = json!({
            "typ": client::POP_TYP,
            "alg": key.key_type().default_algorithm().as_str(),
        });
        let mut claims = json!({
            "iss": self.client_id,
            "aud": self.server,
            "jti": ctx.token("attestation/pop"),
            "iat": ctx.now().0,
        });
        if let (Some(challenge), Some(claims)) = (self.challenge, claims.as_object_mut()) {
            claims.insert("challenge".to_owned(), challenge.into());
        }
        Unsigned::new(&header, &claims)
    }
}

/// The attestation of keys that a program keeps (OpenID4VCI 1.0 Appendix D.1). It states no `key_storage` and no
/// `user_authentication`: such keys have no protection that those words stand for.
#[derive(Clone, Copy, Debug)]
pub struct SoftwareKeysDraft<'a> {
    /// The name of the attester.
    pub attester: &'a str,
    /// The keys.
    pub keys: &'a [&'a Jwk],
    /// Its lifetime, in seconds.
    pub lifetime: u64,
    /// The issuer's nonce, if the attestation is a proof of its own.
    pub nonce: Option<&'a str>,
}

impl SoftwareKeysDraft<'_> {
    /// The attestation without its signature.
    pub fn draft(&self, header: &AttesterHeader<'_>, now: UnixTime) -> Unsigned {
        let keys: Vec<Value> = self.keys.iter().map(|key| key.to_value()).collect();
        let mut claims = json!({
            "iss": self.attester,
            "iat": now.0,
            "exp": now.plus(self.lifetime).0,
            "attested_keys": keys,
        });
        if let (Some(nonce), Some(claims)) = (self.nonce, claims.as_object_mut()) {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        Unsigned::new(&header.of_type(key::TYP), &claims)
    }
}
