//! Attestations of keys: how they are kept, by somebody whom the issuer trusts (OpenID4VCI 1.0 Appendix D).

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::jws::Compact;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, Jwk, PublicKey};
use selfsame_oauth::jwt::{Jwt, MAX_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::LEEWAY;
use crate::fault::AttestationFault;
use crate::trust::TrustedAttesters;

/// The type of key attestations (Appendix D.1).
pub const TYP: &str = "key-attestation+jwt";
/// The member of a proof's header that contains an attestation (Appendix F.1).
pub const HEADER: &str = "key_attestation";
/// The proof type that is an attestation alone (Appendix F.3).
pub const PROOF_TYPE: &str = "attestation";
/// The maximum number of keys in an attestation.
pub const MAX_KEYS: usize = 100;

/// How an issuer wants keys to be kept (OpenID4VCI 1.0 §12.2.4, `key_attestations_required`). A list names the values that
/// the issuer accepts; an empty one accepts all.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeyRequirements {
    /// How keys are stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_storage: Vec<String>,
    /// How the person is asked before a key is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_authentication: Vec<String>,
}

impl KeyRequirements {
    /// Reads a member `key_attestations_required`; `None` if it is malformed.
    pub fn read(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Whether any attestation will do, also one that states no protection.
    #[must_use]
    pub fn are_met_by_any(&self) -> bool {
        self.key_storage.is_empty() && self.user_authentication.is_empty()
    }
}

/// What a key attestation is judged by.
#[derive(Clone, Copy, Debug)]
pub struct KeyRules<'a> {
    /// The attesters that are trusted.
    pub trusted: &'a TrustedAttesters,
    /// The algorithms that the issuer's metadata lists for proofs.
    pub algorithms: &'a [Algorithm],
    /// How the issuer wants keys to be kept.
    pub required: &'a KeyRequirements,
    /// Whether `exp` must be there: with the proof type `jwt` (Appendix D.1).
    pub needs_end: bool,
    /// The time.
    pub now: UnixTime,
}

/// Keys that are attested.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttestedKeys {
    /// The keys, each once.
    pub keys: Vec<PublicKey>,
    /// The issuer's nonce in the attestation, if it has one.
    pub nonce: Option<String>,
}

/// Judges a key attestation.
///
/// # Errors
/// The first rule that does not hold.
pub fn judge(text: &str, rules: &KeyRules<'_>) -> Result<AttestedKeys, AttestationFault> {
    let jwt = Jwt::parse(text).map_err(|_| AttestationFault::Form)?;
    if !jwt.header().is_of_type(TYP) {
        return Err(AttestationFault::Type);
    }
    if !rules.algorithms.contains(&jwt.header().alg) {
        return Err(AttestationFault::Algorithm);
    }
    rules.trusted.verify(&jwt, rules.now)?;
    check_times(&jwt, rules)?;
    check_protection(&jwt, rules.required)?;
    Ok(AttestedKeys {
        keys: keys(&jwt)?,
        nonce: match jwt.claims().get("nonce") {
            None => None,
            Some(Value::String(nonce)) => Some(nonce.clone()),
            Some(_) => return Err(AttestationFault::Claim),
        },
    })
}

fn check_times(jwt: &Jwt, rules: &KeyRules<'_>) -> Result<(), AttestationFault> {
    let time = |name| jwt.time(name).map_err(|_| AttestationFault::Claim);
    let made = time("iat")?.ok_or(AttestationFault::Claim)?;
    let latest = rules.now.plus(LEEWAY);
    if made > latest || time("nbf")?.is_some_and(|begin| begin > latest) {
        return Err(AttestationFault::Early);
    }
    match time("exp")? {
        Some(end) if end.plus(LEEWAY) <= rules.now => Err(AttestationFault::Stale),
        None if rules.needs_end => Err(AttestationFault::Claim),
        _ => Ok(()),
    }
}

/// One of the values that the attestation states is among those that the issuer accepts (Appendix D.2).
fn check_protection(jwt: &Jwt, required: &KeyRequirements) -> Result<(), AttestationFault> {
    for (name, accepted) in [
        ("key_storage", &required.key_storage),
        ("user_authentication", &required.user_authentication),
    ] {
        let stated = stated(jwt, name)?;
        let is_accepted = stated
            .iter()
            .any(|one| accepted.iter().any(|two| two == one));
        if !accepted.is_empty() && !is_accepted {
            return Err(AttestationFault::Protection);
        }
    }
    Ok(())
}

/// An array of texts, not empty; nothing if the claim is absent.
fn stated<'a>(jwt: &'a Jwt, name: &str) -> Result<Vec<&'a str>, AttestationFault> {
    let claim = AttestationFault::Claim;
    let Some(value) = jwt.claims().get(name) else {
        return Ok(Vec::new());
    };
    let list = value.as_array().filter(|list| !list.is_empty());
    let texts = list.ok_or(claim)?.iter().map(Value::as_str);
    texts.collect::<Option<_>>().ok_or(claim)
}

fn keys(jwt: &Jwt) -> Result<Vec<PublicKey>, AttestationFault> {
    let list = jwt.claims().get("attested_keys").and_then(Value::as_array);
    let list = list.filter(|list| (1..=MAX_KEYS).contains(&list.len()));
    let mut seen = BTreeSet::new();
    let mut keys = Vec::new();
    for value in list.ok_or(AttestationFault::Claim)? {
        let key = Jwk::from_value(value).and_then(|jwk| PublicKey::from_jwk(&jwk));
        let key = key.map_err(|_| AttestationFault::Key)?;
        if !seen.insert(key.thumbprint()) {
            return Err(AttestationFault::Key);
        }
        keys.push(key);
    }
    Ok(keys)
}

/// The attestations in the headers of a request's proofs of the type `jwt`, each judged once.
#[derive(Debug)]
pub struct ProofAttestations<'r> {
    rules: KeyRules<'r>,
    judged: BTreeMap<String, AttestedKeys>,
}

impl<'r> ProofAttestations<'r> {
    /// None so far, judged by these rules.
    #[must_use]
    pub fn new(rules: KeyRules<'r>) -> Self {
        Self {
            rules,
            judged: BTreeMap::new(),
        }
    }

    /// Judges the attestation of a proof. A nonce in it is that of the proof.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn take(&mut self, proof: &Compact) -> Result<(), AttestationFault> {
        let text = in_header(proof)?.ok_or(AttestationFault::Absent)?;
        let attested = match self.judged.get(text) {
            Some(attested) => attested,
            None => {
                let attested = judge(text, &self.rules)?;
                &*self.judged.entry(text.to_owned()).or_insert(attested)
            }
        };
        let claims = proof.claims().ok();
        let own = claims
            .as_ref()
            .and_then(|claims| claims.get("nonce")?.as_str());
        let named = attested.nonce.as_deref();
        match named.is_none_or(|nonce| Some(nonce) == own) {
            true => Ok(()),
            false => Err(AttestationFault::Nonce),
        }
    }

    /// The attested keys beside those of the proofs, all of which must be attested (Appendix F.1). Each gets a credential.
    ///
    /// # Errors
    /// [`AttestationFault::Unattested`].
    pub fn further(self, proven: &[&PublicKey]) -> Result<Vec<PublicKey>, AttestationFault> {
        let mut keys: Vec<PublicKey> = Vec::new();
        for key in self.judged.into_values().flat_map(|one| one.keys) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        if proven.iter().any(|key| !keys.contains(key)) {
            return Err(AttestationFault::Unattested);
        }
        keys.retain(|key| !proven.contains(&key));
        Ok(keys)
    }
}

/// The attestation in the header of a proof; `None` if it has none.
fn in_header(proof: &Compact) -> Result<Option<&str>, AttestationFault> {
    match proof.header.other.get(HEADER) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(AttestationFault::Form),
    }
}

/// How many keys an attestation names. Nothing of it is verified; 0 if it can't be read.
pub fn count(attestation: &str) -> usize {
    let read = Jwt::parse(attestation).ok();
    let keys = read
        .as_ref()
        .and_then(|jwt| jwt.claims().get("attested_keys"));
    keys.and_then(Value::as_array).map_or(0, Vec::len)
}

/// How many keys the attestations in the headers of these proofs name, each attestation once. Nothing is verified.
pub fn count_in(proofs: &[String]) -> usize {
    let attestation = |proof: &String| {
        let proof = Compact::parse_within(proof, MAX_BYTES.saturating_mul(2)).ok()?;
        in_header(&proof).ok()?.map(str::to_owned)
    };
    let named: BTreeSet<String> = proofs.iter().filter_map(attestation).collect();
    let counts = named.iter().map(|one| count(one));
    counts.fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests;
