//! Verifies key proofs: of the type `jwt` with or without an attestation of keys, and of the type `attestation` (OpenID4VCI
//! 1.0 Appendix F.1, F.3, F.4).

use std::collections::{BTreeMap, BTreeSet};

use selfsame_attestation::fault::AttestationFault;
use selfsame_attestation::key::{self, AttestedKeys, KeyRequirements, KeyRules, ProofAttestations};
use selfsame_credential::evidence::{Evidence, Need, Step};
use selfsame_credential::validity::Validity;
use selfsame_crypto::{PublicKey, jws::Compact, time::UnixTime, x509::Chain};
use selfsame_did::{Did, DidUrl, Relationship};
use serde_json::{Map, Value};

use super::{EnforcedProofs, Granted, IssuerSettings, nonce};
use crate::error::{CredentialCode, Error};
use crate::wire::credential::PROOF_TYP;
use crate::wire::deferred::KeptHolder;
use crate::wire::metadata::{COSE_KEY, JWK};

/// Maximum length of a proof, in bytes.
const MAX_PROOF: usize = 64 * 1024;

/// The holder that a credential is bound to.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    /// The key.
    pub key: PublicKey,
    /// The DID that the key belongs to, if the proof named one.
    pub did: Option<Did>,
}

/// The holders that the credentials are bound to, and the nonces that their proofs used.
#[derive(Clone, Debug, Default)]
pub(super) struct ProvenHolders {
    pub holders: Vec<Holder>,
    pub nonces: Vec<nonce::Spent>,
}

impl Holder {
    /// The holder as it is kept until the credential is made.
    pub fn kept(&self) -> KeptHolder {
        KeptHolder {
            key: self.key.to_jwk(),
            did: self.did.as_ref().map(|did| did.as_str().to_owned()),
        }
    }

    fn of(kept: &KeptHolder) -> Result<Self, Error> {
        let damaged = || Error::Setup("a holder that was kept cannot be read".to_owned());
        let did = kept.did.as_deref().map(Did::parse).transpose();
        Ok(Self {
            key: PublicKey::from_jwk(&kept.key).map_err(|_| damaged())?,
            did: did.map_err(|_| damaged())?,
        })
    }
}

impl ProvenHolders {
    /// Holders that were proven before; their nonces are spent.
    pub fn of(kept: &[KeptHolder]) -> Result<Self, Error> {
        Ok(Self {
            holders: kept.iter().map(Holder::of).collect::<Result<_, _>>()?,
            nonces: Vec::new(),
        })
    }
}

/// The context that proofs are checked against.
pub(super) struct Rules<'a> {
    pub settings: &'a IssuerSettings,
    pub accepted: &'a EnforcedProofs,
    pub granted: &'a Granted,
}

/// How a proof names its key.
enum NamedKey {
    Key(PublicKey),
    Did(DidUrl),
}

pub(super) fn verify(
    rules: &Rules<'_>,
    jwts: &[String],
    evidence: &Evidence,
    now: UnixTime,
) -> Result<Step<ProvenHolders>, Error> {
    rules.check_number(jwts.len())?;
    let mut proofs = Vec::with_capacity(jwts.len());
    let mut nonces = BTreeSet::new();
    let required = rules.accepted.attestation.as_ref();
    let mut attested = required.map(|one| ProofAttestations::new(rules.keys(one, true, now)));
    for jwt in jwts {
        let proof = Compact::parse_within(jwt, MAX_PROOF)
            .map_err(|error| invalid(format!("a proof cannot be read: {error}")))?;
        let named = check_header(rules.accepted, &proof)?;
        nonces.extend(check_claims(rules, &proof, now)?);
        if let Some(attested) = &mut attested {
            attested.take(&proof).map_err(unattested)?;
        }
        proofs.push((proof, named));
    }
    let needs: BTreeMap<&str, Need> = proofs
        .iter()
        .filter_map(|(_, named)| match named {
            NamedKey::Did(url) if evidence.did(&url.did).is_none() => {
                Some((url.did.as_str(), Need::Did(url.did.clone())))
            }
            _ => None,
        })
        .collect();
    if !needs.is_empty() {
        return Ok(Step::Needs(needs.into_values().collect()));
    }
    let mut holders: Vec<Holder> = Vec::with_capacity(proofs.len());
    for (proof, named) in proofs {
        let holder = holder(named, evidence)?;
        if !evidence.is_signed(&proof, &holder.key) {
            return Err(invalid("a proof's signature does not verify"));
        }
        // §8.3: each key binds at most one credential.
        if holders.iter().any(|other| other.key == holder.key) {
            return Err(invalid("two proofs are for one key"));
        }
        holders.push(holder);
    }
    if let Some(attested) = attested {
        let proven: Vec<&PublicKey> = holders.iter().map(|holder| &holder.key).collect();
        let further = attested.further(&proven).map_err(unattested)?;
        holders.extend(further.into_iter().map(|key| Holder { key, did: None }));
        rules.check_number(holders.len())?;
    }
    Ok(Step::Done(ProvenHolders {
        holders,
        nonces: nonces.into_iter().collect(),
    }))
}

/// The keys of a proof of the type `attestation`. That they are used here and now is proven by its nonce (Appendix F.3).
pub(super) fn attested(
    rules: &Rules<'_>,
    attestation: &str,
    now: UnixTime,
) -> Result<Step<ProvenHolders>, Error> {
    let required = rules.accepted.attestation.as_ref();
    let unlisted = || invalid("the metadata does not list the proof type attestation");
    let by = rules.keys(required.ok_or_else(unlisted)?, false, now);
    let AttestedKeys { keys, nonce } = key::judge(attestation, &by).map_err(unattested)?;
    rules.check_number(keys.len())?;
    let nonce = nonce.ok_or_else(|| invalid("a key attestation has no nonce"))?;
    let holders = keys.into_iter().map(|key| Holder { key, did: None });
    Ok(Step::Done(ProvenHolders {
        holders: holders.collect(),
        nonces: vec![check_nonce(rules, &nonce, now)?],
    }))
}

impl Rules<'_> {
    /// What attestations of keys are judged by.
    fn keys<'r>(
        &'r self,
        required: &'r KeyRequirements,
        needs_end: bool,
        now: UnixTime,
    ) -> KeyRules<'r> {
        KeyRules {
            trusted: &self.settings.metadata.attesters,
            algorithms: &self.accepted.algorithms,
            required,
            needs_end,
            now,
        }
    }

    fn check_number(&self, keys: usize) -> Result<(), Error> {
        match keys <= self.settings.metadata.batch_size {
            true => Ok(()),
            false => Err(invalid("there are more proofs than batch_size allows")),
        }
    }
}

fn unattested(fault: AttestationFault) -> Error {
    invalid(fault.reason())
}

/// The DIDs that these proofs use to name their keys, even if a proof is otherwise invalid.
pub(super) fn dids(jwts: &[String]) -> impl Iterator<Item = Did> {
    jwts.iter().filter_map(|jwt| {
        let proof = Compact::parse_within(jwt, MAX_PROOF).ok()?;
        let url = DidUrl::parse(&proof.header.kid?).ok()?;
        Some(url.did)
    })
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::credential(CredentialCode::InvalidProof, reason)
}

fn check_header(accepted: &EnforcedProofs, proof: &Compact) -> Result<NamedKey, Error> {
    let header = &proof.header;
    if !header.is_of_type(PROOF_TYP) {
        return Err(invalid("a proof's typ is not openid4vci-proof+jwt"));
    }
    if !accepted.algorithms.contains(&header.alg) {
        return Err(invalid("the metadata does not list a proof's algorithm"));
    }
    let named = match (&header.kid, &header.jwk, &header.x5c) {
        (Some(kid), None, None) => NamedKey::Did(
            DidUrl::parse(kid).map_err(|_| invalid("a proof's kid is not a DID URL"))?,
        ),
        (None, Some(jwk), None) if !jwk.may_verify(header.alg) => {
            return Err(invalid("a proof's jwk is not for its algorithm"));
        }
        (None, Some(jwk), None) => NamedKey::Key(
            PublicKey::from_jwk(jwk)
                .map_err(|_| invalid("a proof's jwk is not a supported key"))?,
        ),
        (None, None, Some(x5c)) => {
            let chain = Chain::parse(x5c).map_err(|_| invalid("a proof's x5c cannot be read"))?;
            NamedKey::Key(chain.leaf_public_key().clone())
        }
        _ => return Err(invalid("a proof must have exactly one of kid, jwk and x5c")),
    };
    let lists = |method: &str| accepted.methods.iter().any(|listed| **listed == *method);
    let is_listed = match &named {
        // The key of a proof is a JWK; in an mdoc it becomes a COSE key.
        NamedKey::Key(_) => lists(JWK) || lists(COSE_KEY),
        NamedKey::Did(url) => lists(&format!("did:{}", url.did.method())),
    };
    if !is_listed {
        return Err(invalid(
            "the metadata does not list the way in which a proof names its key",
        ));
    }
    Ok(named)
}

fn check_claims(
    rules: &Rules<'_>,
    proof: &Compact,
    now: UnixTime,
) -> Result<Option<nonce::Spent>, Error> {
    let claims = match proof.claims() {
        Ok(Value::Object(claims)) => claims,
        _ => return Err(invalid("a proof's payload is not a JSON object")),
    };
    let own = &rules.settings.metadata.credential_issuer;
    if claims.get("aud").and_then(Value::as_str) != Some(&**own) {
        return Err(invalid("a proof's aud is not this issuer"));
    }
    check_issuer(rules, &claims)?;
    check_time(rules, &claims, now)?;
    if !rules.settings.metadata.needs_nonces {
        return Ok(None);
    }
    let nonce = match claims.get("nonce") {
        Some(Value::String(nonce)) => nonce,
        Some(_) => return Err(invalid("a proof's nonce is not a string")),
        None => return Err(invalid("a proof has no nonce")),
    };
    check_nonce(rules, nonce, now).map(Some)
}

fn check_nonce(rules: &Rules<'_>, nonce: &str, now: UnixTime) -> Result<nonce::Spent, Error> {
    nonce::check(rules.settings, nonce, now)
        .map_err(|error| Error::credential(CredentialCode::InvalidNonce, error.to_string()))
}

// Appendix F.1: `iss` is the client's identifier; an anonymous client omits it.
fn check_issuer(rules: &Rules<'_>, claims: &Map<String, Value>) -> Result<(), Error> {
    match (claims.get("iss"), &rules.granted.client_id) {
        (None, _) => Ok(()),
        (Some(iss), Some(client_id)) if iss.as_str() == Some(client_id) => Ok(()),
        (Some(_), Some(_)) => Err(invalid("a proof's iss is not the client's identifier")),
        (Some(_), None) => Err(invalid("a proof of an anonymous client has an iss")),
    }
}

fn check_time(rules: &Rules<'_>, claims: &Map<String, Value>, now: UnixTime) -> Result<(), Error> {
    let iat = claims
        .get("iat")
        .and_then(Value::as_f64)
        .filter(|seconds| *seconds >= 0.0)
        .ok_or_else(|| invalid("a proof's iat is missing or not a time"))?;
    // The cast from a float saturates.
    let issued_at = UnixTime(iat as u64);
    if issued_at > now.plus(rules.settings.leeway) {
        return Err(invalid("a proof was made in the future"));
    }
    if issued_at
        < now.minus(
            rules
                .settings
                .proof_age
                .saturating_add(rules.settings.leeway),
        )
    {
        return Err(invalid("a proof is too old"));
    }
    let validity = Validity::of_jwt(claims)
        .map_err(|_| invalid("a proof's nbf or exp is not written as specified"))?;
    if !validity.lasts(now, rules.settings.leeway) {
        return Err(invalid("a proof has expired"));
    }
    if !validity.has_begun(now, rules.settings.leeway) {
        return Err(invalid("a proof is not valid yet"));
    }
    Ok(())
}

fn holder(named: NamedKey, evidence: &Evidence) -> Result<Holder, Error> {
    let url = match named {
        NamedKey::Key(key) => return Ok(Holder { key, did: None }),
        NamedKey::Did(url) => url,
    };
    let fetched = evidence.did(&url.did);
    let resolution = fetched.and_then(|fetched| fetched.value.as_ref().ok());
    // A deactivated DID no longer has a document.
    let document = resolution
        .and_then(|resolution| resolution.document_of(&url.did).ok())
        .ok_or_else(|| invalid("the DID of a proof cannot be resolved, or is deactivated"))?;
    let key = document
        .key(&url, Relationship::Authentication)
        .map_err(|_| invalid("a proof's kid is not an authentication key of its DID"))?;
    Ok(Holder {
        key,
        did: Some(url.did),
    })
}
