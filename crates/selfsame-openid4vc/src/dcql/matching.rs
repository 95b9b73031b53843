//! Whether one credential matches one credential query, and which of its claims are selected (OpenID4VP 1.0 §6.4.1,
//! §7.1).

use std::collections::BTreeSet;

use selfsame_credential::{ClaimPath, Format, path::Segment, sd_jwt::Withheld};
use selfsame_crypto::encoding;
use serde_json::Value;

use super::query::{ClaimQuery, CredentialQuery, DcqlQuery, Meta, TrustedAuthority};

/// Maximum number of places in one credential that are revealed to one query.
const MAX_REVEALED: usize = 4_096;

/// A credential, as far as a query depends on it.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Its format.
    pub format: Format,
    /// Its types as queries name them: its `vct`, or the types of a W3C credential, expanded where the format has contexts
    /// applied.
    pub types: Vec<String>,
    /// Its claims: an SD-JWT VC's processed payload, or the W3C credential without its JWT.
    pub claims: &'a Value,
    /// For a verifier: the array elements that are hidden from it.
    pub withheld: Option<&'a Withheld>,
    /// For a wallet: whether possession of a key can be proven. For a verifier: whether it was.
    pub holder_bound: bool,
    /// The authority key identifiers of the certificates that came with it ([`super::authority_keys`]).
    pub authority_keys: Vec<Vec<u8>>,
}

/// Why a credential does not match, in rising order of closeness. Only for the holder: missing claims reveal something
/// about the claims that exist (OpenID4VP 1.0 §15.4.1).
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, thiserror::Error)]
pub enum Mismatch {
    /// It has another format.
    #[error("no credential of this format")]
    Format,
    /// It has another type.
    #[error("no credential of this type")]
    Type,
    /// Its issuer does not descend from an authority that the verifier named.
    #[error("no credential certified by an authority the verifier named")]
    Authority,
    /// Possession of a key must be proven, and can't be.
    #[error("no credential bound to a key")]
    HolderBinding,
    /// These claims are missing or have other values.
    #[error("claims are missing or have other values")]
    Claims(Vec<ClaimPath>),
}

/// The part of a matching credential that answers a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ChosenPart {
    /// The position of the claim set, if there are claim sets.
    pub(super) claim_set: Option<usize>,
    /// The places to reveal, without wildcards, in the verifier's order.
    pub(super) reveal: Vec<ClaimPath>,
}

/// Matches a credential against everything a query asks of a single credential.
pub(super) fn matches(
    query: &CredentialQuery,
    candidate: &Candidate<'_>,
) -> Result<ChosenPart, Mismatch> {
    if query.known_format() != Some(candidate.format) {
        return Err(Mismatch::Format);
    }
    if !has_type(&query.meta, &candidate.types) {
        return Err(Mismatch::Type);
    }
    if !has_authority(&query.trusted_authorities, &candidate.authority_keys) {
        return Err(Mismatch::Authority);
    }
    if query.require_cryptographic_holder_binding && !candidate.holder_bound {
        return Err(Mismatch::HolderBinding);
    }
    claims(query, candidate)
}

/// OpenID4VP 1.0 §B.1.1 and §B.3.5.
fn has_type(meta: &Meta, types: &[String]) -> bool {
    match meta {
        Meta::SdJwtVc { vct_values } => vct_values.iter().any(|wanted| types.contains(wanted)),
        Meta::W3c { type_values } => type_values
            .iter()
            .any(|wanted| wanted.iter().all(|wanted| has_w3c_type(wanted, types))),
        Meta::Mdoc { doctype_value } => types.contains(doctype_value),
        Meta::Other(_) => false,
    }
}

/// Of types that a credential must all have, the most specific one: not one that every credential has, unless all are
/// such types (then by its plain name).
pub fn narrowest_type(types: &[String]) -> Option<&str> {
    let plain = |name: &String| base_type(name).unwrap_or(name) == "VerifiableCredential";
    let narrow = types.iter().rev().find(|name| !plain(name));
    let any = || types.first().map(|name| base_type(name).unwrap_or(name));
    narrow.map(String::as_str).or_else(any)
}

fn has_w3c_type(wanted: &str, types: &[String]) -> bool {
    let plain = base_type(wanted);
    types
        .iter()
        .any(|has| has == wanted || Some(has.as_str()) == plain)
}

/// The plain name of a type that the base contexts define and expand. A type that no context defines stays as written.
fn base_type(expanded: &str) -> Option<&str> {
    const BASE: &str = "https://www.w3.org/2018/credentials#";
    const DEFINED: [&str; 2] = ["VerifiableCredential", "VerifiablePresentation"];
    let name = expanded.strip_prefix(BASE)?;
    DEFINED.contains(&name).then_some(name)
}

/// OpenID4VP 1.0 §6.1.1. Of the kinds of authority only `aki` can be judged from the credential alone; a credential
/// does not match the others.
fn has_authority(wanted: &[TrustedAuthority], keys: &[Vec<u8>]) -> bool {
    let has = |authority: &TrustedAuthority| {
        authority.kind == "aki"
            && keys
                .iter()
                .any(|key| authority.values.contains(&encoding::base64url_encode(key)))
    };
    wanted.is_empty() || wanted.iter().any(has)
}

/// The first combination of claims that the credential can satisfy (OpenID4VP 1.0 §6.4.1).
fn claims(query: &CredentialQuery, candidate: &Candidate<'_>) -> Result<ChosenPart, Mismatch> {
    let mut closest: Option<Vec<ClaimPath>> = None;
    for (position, combination) in query.combinations().iter().enumerate() {
        match reveal(combination, candidate) {
            Ok(reveal) => {
                return Ok(ChosenPart {
                    claim_set: (!query.claim_sets.is_empty()).then_some(position),
                    reveal,
                });
            }
            Err(missing) => {
                if closest
                    .as_ref()
                    .is_none_or(|closest| missing.len() < closest.len())
                {
                    closest = Some(missing);
                }
            }
        }
    }
    Err(Mismatch::Claims(closest.unwrap_or_default()))
}

/// The places that a combination of claims leads to, or the paths that lead to no place.
fn reveal(
    combination: &[&ClaimQuery],
    candidate: &Candidate<'_>,
) -> Result<Vec<ClaimPath>, Vec<ClaimPath>> {
    let mut asked = BTreeSet::new();
    let mut known = BTreeSet::new();
    let (mut places, mut missing) = (Vec::new(), Vec::new());
    for claim in combination {
        // §6.1: a second claim query for the same claim SHOULD be ignored.
        if !asked.insert(&claim.path) {
            continue;
        }
        let found = resolve(claim, candidate);
        if found.is_empty() || places.len().saturating_add(found.len()) > MAX_REVEALED {
            missing.push(claim.path.clone());
        } else {
            places.extend(
                found
                    .into_iter()
                    .filter(|place| known.insert(place.clone())),
            );
        }
    }
    if missing.is_empty() {
        Ok(places)
    } else {
        Err(missing)
    }
}

/// The existing places of one claim that have an accepted value. A value that is not accepted counts as missing
/// (OpenID4VP 1.0 §6.4.1).
fn resolve(claim: &ClaimQuery, candidate: &Candidate<'_>) -> Vec<ClaimPath> {
    let will_do = |value: &Value| {
        claim.values.is_empty() || claim.values.iter().any(|wanted| wanted.equals(value))
    };
    // If all segments are names, there is at most one place: the path itself.
    let is_name = |segment: &Segment| matches!(segment, Segment::Name(_));
    if claim.path.segments().iter().all(is_name) {
        let found = claim.path.select(candidate.claims).into_iter().any(will_do);
        return found.then(|| claim.path.clone()).into_iter().collect();
    }
    let mut selected = vec![FoundElement {
        path: Vec::new(),
        value: candidate.claims,
        certain: true,
    }];
    for segment in claim.path.segments() {
        let mut next = Vec::new();
        for found in &selected {
            match found.step(segment, candidate.withheld) {
                Some(steps) => next.extend(steps),
                // §7.1.1: an element of the wrong kind aborts; one that is only possibly meant is left out.
                None if found.certain => return Vec::new(),
                None => {}
            }
            if next.len() > MAX_REVEALED {
                return Vec::new();
            }
        }
        selected = next;
    }
    selected
        .into_iter()
        .filter(|found| will_do(found.value))
        .filter_map(|found| ClaimPath::new(found.path).ok())
        .collect()
}

/// An element that a path leads to.
struct FoundElement<'a> {
    path: Vec<Segment>,
    value: &'a Value,
    /// Whether the path certainly names it, not only possibly.
    certain: bool,
}

impl<'a> FoundElement<'a> {
    fn at(&self, segment: Segment, value: &'a Value, certain: bool) -> Self {
        let mut path = self.path.clone();
        path.push(segment);
        FoundElement {
            path,
            value,
            certain: self.certain && certain,
        }
    }

    /// The elements that one step leads to (OpenID4VP 1.0 §7.1.1); `None` if the element is of the wrong kind.
    fn step(&self, segment: &Segment, withheld: Option<&Withheld>) -> Option<Vec<Self>> {
        match (segment, self.value) {
            (Segment::Name(name), Value::Object(members)) => {
                let member = members.get(name).into_iter();
                Some(
                    member
                        .map(|value| self.at(segment.clone(), value, true))
                        .collect(),
                )
            }
            (Segment::All, Value::Array(elements)) => {
                let all = elements.iter().enumerate();
                Some(
                    all.map(|(index, value)| self.at(Segment::Index(index), value, true))
                        .collect(),
                )
            }
            (Segment::Index(wanted), Value::Array(elements)) => {
                let here = |(index, value): (usize, &'a Value)| {
                    // RFC 9901 §7.1 (3.d): elements that were not disclosed are removed, and those behind them moved
                    // forward. Each missing element may have been real or a decoy.
                    let missing = withheld.map_or(0, |it| it.before(&self.path, index));
                    let may_be = (index..=index.saturating_add(missing)).contains(wanted);
                    may_be.then(|| self.at(Segment::Index(index), value, missing == 0))
                };
                Some(elements.iter().enumerate().filter_map(here).collect())
            }
            _ => None,
        }
    }
}

impl CredentialQuery {
    /// The types it asks for: each `vct`, and of each list of W3C types the narrowest one.
    pub fn type_names(&self) -> Vec<&str> {
        match &self.meta {
            Meta::SdJwtVc { vct_values } => vct_values.iter().map(String::as_str).collect(),
            Meta::W3c { type_values } => type_values
                .iter()
                .filter_map(|list| narrowest_type(list))
                .collect(),
            Meta::Mdoc { doctype_value } => vec![doctype_value],
            Meta::Other(_) => Vec::new(),
        }
    }
}

impl DcqlQuery {
    /// The types it asks for.
    pub fn type_names(&self) -> BTreeSet<&str> {
        let queries = self.credentials().iter();
        queries.flat_map(CredentialQuery::type_names).collect()
    }
}
