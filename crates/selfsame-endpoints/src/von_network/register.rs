//! `POST /register`: registers a DID, by seed or by key, signed by the operator's member of the registry.

use axum::extract::State;
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use selfsame_core::newcomer::{Consent, Newcomer, Registered, Role};
use selfsame_crypto::encoding::{base58_decode, base58_encode, base64_decode};
use selfsame_crypto::{KeyType, PrivateKey, PublicKey, Secret, SecretString};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Json, bearer};
use serde::Deserialize;
use serde_json::json;

use super::json_answer;
use crate::instance::Instance;

/// The bytes before an Ed25519 seed in PKCS#8 (RFC 8410 §7).
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
const SEED_BYTES: usize = 32;

/// The DID to register, in von-network's members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    seed: Option<SecretString>,
    did: Option<String>,
    verkey: Option<String>,
    /// Our addition: the key's signature, 64 bytes in base58. It registers a DID of Indy's form without the seed.
    signature: Option<String>,
    /// Accepted and dropped: people's names do not go to the registry.
    #[expect(dead_code, reason = "read so that it is not refused")]
    alias: Option<String>,
    #[serde(default = "endorser")]
    role: Option<String>,
    /// Accepted and not used, as in von-network.
    #[expect(dead_code, reason = "read so that it is not refused")]
    paymentaddr: Option<String>,
    /// Our addition: the version of the author agreement that this request accepts.
    agreement: Option<String>,
}

/// A registered DID.
pub struct Enrolled {
    /// The padded seed, if a seed was given.
    seed: Option<SecretString>,
    /// Its key.
    pub key: PublicKey,
    /// The result of the registration.
    pub registered: Registered,
}

/// As in von-network: the default role is endorser; `null` means no role.
fn endorser() -> Option<String> {
    Some("ENDORSER".to_owned())
}

/// Registers the DID unless it exists, and responds like von-network; `id` is the DID in the form that resolves.
pub async fn register(
    State(instance): State<Instance>,
    headers: HeaderMap,
    Json(asked): Json<Registration>,
) -> Handled {
    let made = asked.carried_out(&instance, &headers).await?;
    let verkey = asked
        .verkey
        .unwrap_or_else(|| base58_encode(made.key.bytes()));
    let body = json!({
        "seed": made.seed.as_ref().map(SecretString::expose),
        "did": asked.did.unwrap_or(made.registered.id),
        "verkey": verkey,
        "id": made.registered.did.to_string(),
    });
    Ok(json_answer(StatusCode::OK, &body))
}

impl Registration {
    /// Reads the members from a form; empty fields count as absent.
    pub fn of_form(form: &Form) -> Self {
        let field = |name| form.one(name).map(str::to_owned);
        Self {
            seed: form.one("seed").map(SecretString::from),
            did: field("did"),
            verkey: field("verkey"),
            signature: None,
            alias: None,
            role: field("role"),
            paymentaddr: None,
            agreement: field("agreement"),
        }
    }

    /// Registers the DID if the caller may do so.
    ///
    /// # Errors
    /// For an invalid request, for a caller who may not register, and if the registry refuses.
    pub async fn carried_out(&self, instance: &Instance, headers: &HeaderMap) -> Handled<Enrolled> {
        let role = role(self.role.as_deref())?;
        allowed(instance, headers, role)?;
        let (seed, key) = self.key()?;
        let (seed_key, signature) = (own_key(seed.as_ref(), &key)?, self.signature()?);
        let consent = match (&signature, &seed_key) {
            (Some(signature), _) => Consent::Signature(signature),
            (None, Some(key)) => Consent::Key(key),
            (None, None) => Consent::None,
        };
        let newcomer = Newcomer {
            key: &key,
            consent,
            did: self.did.as_deref(),
            role,
            accepts: self.agreement.as_deref(),
        };
        let registered = instance.register(&newcomer).await?;
        Ok(Enrolled {
            seed,
            key,
            registered,
        })
    }

    fn signature(&self) -> Handled<Option<[u8; 64]>> {
        let wrong = || Problem::bad_request("signature-malformed");
        let read = |text: &String| base58_decode(text).ok()?.try_into().ok();
        let signature = self.signature.as_ref();
        signature
            .map(|text| read(text).ok_or_else(wrong))
            .transpose()
    }

    /// The padded seed, if a seed was given, and the key to register.
    fn key(&self) -> Handled<(Option<SecretString>, PublicKey)> {
        let seed = self.seed.as_ref();
        let seed = seed.map(|seed| padded(seed.expose())).transpose()?;
        let key = match (&seed, &self.verkey, &self.did) {
            (Some(_), Some(verkey), did) => verification_key(verkey, did.as_deref())?,
            (None, Some(verkey), Some(did)) => verification_key(verkey, Some(did))?,
            (Some(seed), None, _) => seed_key(seed)?.public().clone(),
            (None, ..) => {
                return Err(Problem::bad_request("seed-or-key"));
            }
        };
        Ok((seed, key))
    }
}

fn allowed(instance: &Instance, headers: &HeaderMap, role: Option<Role>) -> Handled<()> {
    let is_operator = headers
        .get(AUTHORIZATION)
        .and_then(bearer)
        .is_some_and(|token| instance.is_operator(token));
    if is_operator {
        return Ok(());
    }
    if !instance.open_registration() {
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "operator-needed"));
    }
    match role {
        None | Some(Role::Endorser) => Ok(()),
        Some(_) => Err(Problem::new(StatusCode::FORBIDDEN, "role-for-operator")),
    }
}

fn role(name: Option<&str>) -> Handled<Option<Role>> {
    match name {
        None | Some("") => Ok(None),
        Some("ENDORSER" | "TRUST_ANCHOR" | "101") => Ok(Some(Role::Endorser)),
        Some("STEWARD" | "2") => Ok(Some(Role::Steward)),
        Some("TRUSTEE" | "0") => Ok(Some(Role::Trustee)),
        Some(_) => Err(Problem::bad_request("role-unknown")),
    }
}

/// A seed of 32 bytes: up to 32 characters padded with zeros, or base64 that ends with `=`.
fn padded(seed: &str) -> Handled<SecretString> {
    let wrong = || Problem::bad_request("seed-malformed");
    if seed.ends_with('=') {
        let bytes = base64_decode(seed).map(Secret::new).map_err(|_| wrong())?;
        return match bytes.expose().len() {
            SEED_BYTES => Ok(SecretString::from(seed)),
            _ => Err(wrong()),
        };
    }
    if seed.is_empty() || seed.len() > SEED_BYTES || !seed.is_ascii() {
        return Err(wrong());
    }
    Ok(SecretString::from(format!("{seed:0<SEED_BYTES$}")))
}

/// The private key, if the seed is that of the key.
fn own_key(seed: Option<&SecretString>, key: &PublicKey) -> Handled<Option<PrivateKey>> {
    let own = seed.map(seed_key).transpose()?;
    Ok(own.filter(|own| own.public() == key))
}

fn seed_key(seed: &SecretString) -> Handled<PrivateKey> {
    let bytes = match seed.expose().ends_with('=') {
        true => Secret::new(base64_decode(seed.expose()).unwrap_or_default()),
        false => Secret::new(seed.expose().as_bytes().to_vec()),
    };
    let pkcs8 = Secret::new([&PKCS8, bytes.expose()].concat());
    PrivateKey::from_pkcs8(pkcs8.expose()).map_err(|_| Problem::bad_request("seed-without-key"))
}

/// A key as Indy writes it, base58 or `~` and the part that follows the DID's bytes; or a multikey.
fn verification_key(verkey: &str, did: Option<&str>) -> Handled<PublicKey> {
    let wrong = || Problem::bad_request("verkey-malformed");
    if let Ok(key) = PublicKey::from_multikey(verkey) {
        return Ok(key);
    }
    let bytes = match verkey.strip_prefix('~') {
        Some(rest) => {
            let id = did
                .and_then(|did| did.rsplit(':').next())
                .ok_or_else(wrong)?;
            let parts = [id, rest].map(base58_decode);
            let [Ok(first), Ok(rest)] = parts else {
                return Err(wrong());
            };
            [first, rest].concat()
        }
        None => base58_decode(verkey).map_err(|_| wrong())?,
    };
    PublicKey::from_raw(KeyType::Ed25519, &bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_filled_up_and_gives_the_key_that_indy_makes_of_it() {
        // The trustee of every Indy sandbox (von-network, README): its seed, DID and verkey are public.
        let seed = padded("000000000000000000000000Trustee1").unwrap();
        let key = seed_key(&seed).unwrap();
        assert_eq!(
            base58_encode(key.public().bytes()),
            "GJ1SzoWzavQYfNL9XkaJdrQejfztN4XqdsiV4ct3LXKL"
        );
        assert_eq!(
            padded("my_seed").unwrap().expose(),
            "my_seed0000000000000000000000000"
        );
        for wrong in ["", &"x".repeat(33), "é", "YWJj=", "="] {
            assert!(padded(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_may_be_short_beside_its_did() {
        let whole = "GJ1SzoWzavQYfNL9XkaJdrQejfztN4XqdsiV4ct3LXKL";
        let bytes = base58_decode(whole).unwrap();
        let did = base58_encode(&bytes[..16]);
        let short = format!("~{}", base58_encode(&bytes[16..]));
        let key = verification_key(&short, Some(&did)).unwrap();
        assert_eq!(key.bytes(), bytes);
        assert_eq!(did, "V4SGRU86Z58d6TV7PBUe6f");
        assert!(verification_key(&short, None).is_err());
        assert!(verification_key("~", Some(&did)).is_err());
        assert!(verification_key("abc", None).is_err());
        assert_eq!(
            verification_key(&key.to_multikey(), None).unwrap().bytes(),
            bytes
        );
    }
}
