//! What a verifier's verdict proves, and why it is not enough.

use selfsame_credential::verdict::Outcome;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_openid_view::verifier::{CredentialVerdict, PresentationVerdict};
use selfsame_prerequisites::judge::{ProvenCredential, Unmet, WalletProof};
use selfsame_prerequisites::{Prerequisite, Prerequisites};
use serde_json::Value;

/// Seconds after which a status list that could not be fetched is tried again.
const STATUS_LATER: u64 = 5;

/// What a verdict proves; the request was made at `at`.
///
/// # Errors
/// `Forbidden` if something shown is not valid; `Unavailable` if that could not be found out now.
pub(crate) fn proof(verdict: &PresentationVerdict, at: UnixTime) -> Result<WalletProof, Error> {
    match verdict.outcome {
        Outcome::Valid => {}
        Outcome::Unverifiable => {
            let kind = ErrorKind::Unavailable {
                retry_after: STATUS_LATER,
            };
            return Err(Error::new(kind, "proof-unverifiable"));
        }
        outcome => {
            return Err(Error::new(ErrorKind::Forbidden, "proof-not-valid")
                .with("outcome", outcome.as_str()));
        }
    }
    let shown = verdict.credentials.iter().filter_map(shown);
    Ok(WalletProof {
        at,
        shown: shown.collect(),
    })
}

fn shown(verdict: &CredentialVerdict) -> Option<ProvenCredential> {
    let named = verdict.credential.as_ref()?;
    let claims = verdict.claims.as_ref()?;
    // What its issuer signed, and not a name for people that is made of it.
    let vct = claims.get("vct").and_then(Value::as_str)?;
    let until = named.valid_until.as_deref();
    let until = match until {
        Some(text) => Some(UnixTime::parse_rfc3339(text)?),
        None => None,
    };
    Some(ProvenCredential {
        need: verdict.query.clone(),
        vct: vct.to_owned(),
        issuer: named.issuer.clone().unwrap_or_default(),
        valid_until: until,
        claims: claims.clone(),
    })
}

/// Why a rule is not met, in words.
pub(crate) fn reason(declared: &Prerequisites, unmet: &Unmet) -> Reason {
    let called = |need: &str| declared.need(need).map_or(need.to_owned(), title);
    match unmet {
        Unmet::Late => Reason::new("proof-late").with("minutes", &declared.proof_minutes),
        Unmet::Missing { need } => Reason::new("proof-missing").with("need", &called(need)),
        Unmet::Type { need } => Reason::new("proof-type").with("need", &called(need)),
        Unmet::Issuer { need } => Reason::new("proof-issuer").with("need", &called(need)),
        Unmet::Ends { need } => Reason::new("proof-ends").with("need", &called(need)),
        Unmet::Claim { need, claim } => Reason::new("proof-claim")
            .with("need", &called(need))
            .with("claim", claim),
    }
}

/// What people call a needed credential.
pub(crate) fn title(need: &Prerequisite) -> String {
    need.title.clone().unwrap_or_else(|| need.name.clone())
}
