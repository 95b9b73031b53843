//! The rules for a compact credential, in the order in which they are checked. Nothing in it names its issuer, so the
//! keys of the DIDs that the policy trusts are tried; without such a list it can't be verified.

use std::sync::Arc;

use super::codec::{BASE_TYPE, CoseMessage, short_key_id};
use selfsame_crypto::{Algorithm, PublicKey, jws};
use selfsame_did::{Did, Relationship, Resolution};
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::Value;

use super::read::{self, ReceivedCompact};
use crate::budget::Budget;
use crate::evidence::{Evidence, Need};
use crate::format::view::{HeldError, Subject};
use crate::issuer_key::{Claimed, IssuerIdentity};
use crate::rules::{Binding, Court, Malformed, SignedToken, issuer, status};
use crate::verdict::{Trust, Verdict};

const WELL_FORMED: Law = Law::new(
    "well_formed",
    "RFC 9052 §4.2, RFC 8392 §7.2",
    BrokenRule::Invalid,
);

/// Maximum number of a policy's issuers whose keys are tried.
const MAX_ISSUERS: usize = 64;

/// Every rule for a compact credential.
pub(crate) const LAWS: &[&Law] = &[
    &WELL_FORMED,
    &issuer::ALGORITHM,
    &issuer::ISSUER_KEY,
    &issuer::KEYS_AS_OF,
    &issuer::CERTIFICATE_CHAIN,
    &issuer::ISSUER_SIGNATURE,
    &issuer::ISSUER_TRUSTED,
    &issuer::TIMES,
    &issuer::NOT_BEFORE,
    &issuer::EXPIRY,
    &status::REFERENCE,
    &status::LIST,
    &status::LIST_SIGNATURE,
    &status::LIST_FRESH,
    &status::STATUS,
];

/// The credential is shown in a way that no wallet has.
#[derive(Debug, thiserror::Error)]
#[error("a compact credential is presented in a TLS handshake, not to a verifier of OpenID4VP")]
struct OnlyInHandshakes;

/// The parsed credential needs too much memory.
#[derive(Debug, thiserror::Error)]
#[error("the credential exceeds the memory limit")]
struct TooMuch;

pub(super) fn read_credential(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let malformed = |error: HeldError| Malformed::new(&WELL_FORMED, &error);
    let received = ReceivedCompact::new(read::message(raw).map_err(malformed)?);
    budget.take_bytes(received.weight()).ok_or_else(too_much)?;
    Ok(Arc::new(BareCompact(Arc::new(received))))
}

pub(super) fn read_presentation(_: &str, _: &mut Budget) -> Result<Arc<dyn Subject>, Malformed> {
    Err(Malformed::new(&WELL_FORMED, &OnlyInHandshakes))
}

pub(super) fn too_much() -> Malformed {
    Malformed::new(&WELL_FORMED, &TooMuch)
}

/// A compact credential without a presentation, which it never has.
#[derive(Debug)]
pub(super) struct BareCompact(pub Arc<ReceivedCompact>);

impl SignedToken for CoseMessage {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn is_signed(&self, key: &PublicKey, _: &Evidence) -> bool {
        self.is_signed_by(key)
    }
}

/// The issuer whose key the credential names.
struct NamedSigner<'a> {
    issuer: &'a str,
    /// The header that leads to the key in the issuer's document.
    header: jws::Header,
}

/// Why no issuer was found.
enum NoSigner {
    /// These documents are missing.
    Missing(Vec<Need>),
    Refused(BrokenRule, &'static str),
}

impl NamedSigner<'_> {
    fn claimed<'a>(&'a self, court: &Court<'a>) -> Claimed<'a> {
        Claimed {
            header: &self.header,
            id: Some(self.issuer),
            relationship: Relationship::AssertionMethod,
            dids_allowed: true,
            certificates_alone: false,
            roots: court.roots(),
        }
    }
}

/// The one trusted issuer that has the key; if two had it, it would be ambiguous who signed.
fn signer<'a>(received: &ReceivedCompact, court: &Court<'a>) -> Result<NamedSigner<'a>, NoSigner> {
    let listed: &[String] = match &court.policy.trusted_issuers {
        Trust::Listed(listed) => listed,
        Trust::Any => &[],
    };
    let dids = listed
        .iter()
        .filter_map(|name| Some((name.as_str(), Did::parse(name).ok()?)));
    let (mut found, mut missing, mut tried) = (Vec::new(), Vec::new(), 0_usize);
    for (name, did) in dids.take(MAX_ISSUERS) {
        tried = tried.saturating_add(1);
        match document(&did, court.evidence) {
            Ok(Some(resolution)) => {
                let document = resolution.document_of(&did).ok();
                let keys = document
                    .into_iter()
                    .flat_map(|document| document.keys(Relationship::AssertionMethod));
                let named = keys.filter(|(_, key)| short_key_id(key) == received.message.key_id);
                found.extend(named.map(|(url, _)| (name, url)));
            }
            Ok(None) => {}
            Err(need) => missing.push(need),
        }
    }
    match (found.as_slice(), missing.is_empty(), tried) {
        ([(issuer, url)], ..) => Ok(NamedSigner {
            issuer,
            header: jws::Header {
                kid: Some(url.to_string()),
                ..received.header()
            },
        }),
        ([], false, _) => Err(NoSigner::Missing(missing)),
        ([], true, 0) => Err(NoSigner::Refused(
            BrokenRule::Untrusted,
            "the credential names no issuer, and the policy lists no DID whose keys can be tried",
        )),
        ([], true, _) => Err(NoSigner::Refused(
            BrokenRule::Untrusted,
            "none of the trusted issuers has the key that the credential names",
        )),
        _ => Err(NoSigner::Refused(
            BrokenRule::Invalid,
            "two of the trusted issuers' keys have the name that the credential states",
        )),
    }
}

/// What is known of a DID: its resolution, `None` if it is unavailable; otherwise the need for it.
fn document(did: &Did, evidence: &Evidence) -> Result<Option<Arc<Resolution>>, Need> {
    if let Some(fetched) = evidence.did(did) {
        return Ok(fetched.value.as_ref().ok().cloned());
    }
    match evidence.resolved(did) {
        Ok(Some(resolution)) => Ok(Some(resolution)),
        Ok(None) => Err(Need::Did(did.clone())),
        Err(_) => Ok(None),
    }
}

impl Subject for BareCompact {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        let signer = match signer(&self.0, court) {
            Ok(signer) => signer,
            Err(NoSigner::Missing(needs)) => return needs,
            Err(NoSigner::Refused(..)) => return Vec::new(),
        };
        let stated = status::Stated {
            token: &self.0.message,
            claimed: signer.claimed(court),
            references: self.0.statuses().unwrap_or_default(),
            further: None,
        };
        status::needs(stated, court)
    }

    fn judge(&self, _: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let mut list = Checklist::new(&[LAWS]);
        list.passes(&WELL_FORMED, "");
        issuer::algorithm(&self.0.message, court, &mut list);
        match signer(&self.0, court) {
            Ok(signer) => self.judge_by(&signer, court, &mut list),
            Err(unknown) => {
                let (failure, detail) = match unknown {
                    NoSigner::Refused(failure, detail) => (failure, detail),
                    NoSigner::Missing(_) => (
                        BrokenRule::Unverifiable,
                        "the DIDs of the trusted issuers have not been resolved",
                    ),
                };
                list.fails_as(&issuer::ISSUER_KEY, failure, detail);
                list.signer_unknown();
            }
        }
        list.conclude(Some(&self.0.claims))
    }
}

impl BareCompact {
    fn judge_by(&self, signer: &NamedSigner<'_>, court: &Court<'_>, list: &mut Checklist) {
        let received = &self.0;
        let claimed = signer.claimed(court);
        let signed = issuer::signature(&received.message, &claimed, court, list);
        let identity = signed.as_ref().map(|signed| IssuerIdentity {
            id: claimed.id,
            leaf: signed.leaf(),
        });
        if let Some(identity) = &identity {
            let types = received.content().all_types().into_iter();
            let own: Vec<&str> = types.filter(|name| *name != BASE_TYPE).collect();
            issuer::trust(identity, &own, court, list);
        }
        issuer::validity(Ok(received.validity()), court, list);
        if let Some(identity) = &identity {
            status::judge(received.statuses(), &claimed, identity, court, list);
        }
    }
}
