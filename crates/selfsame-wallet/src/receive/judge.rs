//! Verifies a received credential: its issuer's signature is checked before it is stored.

use selfsame_credential::Held;
use selfsame_credential::evidence::{Evidence, Fetched, Step, Unavailable};
use selfsame_credential::verdict::{Outcome, Rule, Trust, Verdict};
use selfsame_credential::verify::Examination;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_openid4vc::wallet::ReceivedCredential;
use url::Url;

use crate::cards::{CARD_BYTES_MAX, policy, single_use};
use selfsame_core::Shared;
use selfsame_core::machine::Round;
use selfsame_core::registry::UseKey;

/// The result of verifying a credential.
pub(super) enum Judgement {
    /// Signed by the issuer it names, and unaltered.
    Genuine(Box<Held>),
    /// Not genuine, for this reason.
    Forged(String),
    /// The issuer's key is unavailable now, for this reason.
    Unknown(String),
}

/// Verifies a credential that came from the Credential Issuer `sender`. Whether to trust the issuer is the person's
/// decision, and the credential's status is looked up when it is shown, so no status list is fetched here. The
/// signature is checked once.
pub(super) fn judged(
    shared: &Shared,
    credential: &ReceivedCredential,
    sender: &str,
    round: &Round<'_>,
) -> Result<Step<Judgement>> {
    if credential.raw.len() > CARD_BYTES_MAX {
        let reason = format!("it is longer than {} KiB", CARD_BYTES_MAX >> 10);
        return Ok(Step::Done(Judgement::Forged(reason)));
    }
    let held = match Held::parse(&credential.raw, credential.format) {
        Ok(held) => held,
        Err(error) => return Ok(Step::Done(Judgement::Forged(error.to_string()))),
    };
    let now = round.ctx.now();
    let evidence = without_status(round.evidence, &held, now);
    let examination = Examination::of(&held);
    let mut policy = policy(shared);
    if held.issuer().is_none()
        && let Some(issuer) = &credential.issuer
    {
        // The sender names the DID that signs what names no issuer; only the key of this DID is tried.
        policy.trusted_issuers = Trust::Listed(vec![issuer.clone()]);
    }
    let examined = examination.step(&policy, &evidence, now);
    let (verdict, is_genuine) = match examined {
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
        // Claims are present only if the credential is neither forged nor left unverified.
        Step::Done((verdict, claims)) => (verdict, claims.is_some()),
    };
    Ok(Step::Done(
        if is_in_anothers_name(&held, &verdict, sender) {
            Judgement::Forged(
                "no known certificate authority confirms that the issuer it names made it"
                    .to_owned(),
            )
        } else if is_genuine {
            Judgement::Genuine(Box::new(held))
        } else if verdict.outcome == Outcome::Unverifiable {
            Judgement::Unknown(reason(&verdict))
        } else {
            Judgement::Forged(reason(&verdict))
        },
    ))
}

/// The evidence, with nothing known about the credential's status.
fn without_status(evidence: &Evidence, held: &Held, now: UnixTime) -> Evidence {
    let mut evidence = evidence.clone();
    for reference in held.statuses() {
        evidence.insert_status_list(reference.uri.clone(), unavailable(now));
    }
    if let Some(UseKey { issuer, digest }) = single_use(held) {
        evidence.insert_single_use(issuer, digest, unavailable(now));
    }
    evidence
}

/// Whether only a certificate that anyone could have made names the issuer. If the issuer's name is that of the sender,
/// the sender's TLS certificate has proved it.
fn is_in_anothers_name(held: &Held, verdict: &Verdict, sender: &str) -> bool {
    let is_unknown = |rule: &Rule| rule.name == "certificate_chain" && rule.passed == Some(false);
    let origin = |url: &str| Url::parse(url).map(|url| url.origin());
    let is_senders = |name: &str| match (origin(name), origin(sender)) {
        (Ok(name), Ok(sender)) => name.is_tuple() && name == sender,
        _ => false,
    };
    verdict.rules.iter().any(is_unknown) && held.issuer().is_some_and(|name| !is_senders(name))
}

fn unavailable<T>(at: UnixTime) -> Fetched<T> {
    let unavailable = Unavailable {
        reason: "not checked when a credential is received".to_owned(),
    };
    Fetched {
        value: Err(unavailable),
        at,
    }
}

/// The first rule that failed.
fn reason(verdict: &Verdict) -> String {
    verdict
        .rules
        .iter()
        .find(|rule| rule.passed == Some(false))
        .map(|rule| rule.detail.clone())
        .unwrap_or_default()
}
