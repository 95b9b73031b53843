//! Verifies a received credential: its issuer's signature is checked before it is stored.

use selfsame_credential::Held;
use selfsame_credential::evidence::{Evidence, Fetched, Unavailable};
use selfsame_credential::verdict::{Outcome, Rule, Verdict};
use selfsame_credential::verify::Examination;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::wallet::ReceivedCredential;
use selfsame_store::TenantId;
use url::Url;

use crate::gather::Freshness;
use crate::wallet::Wallet;

/// Maximum size of a stored credential, in bytes: one with a portrait of 90 kB. A wallet reads hundreds at once.
const CARD_BYTES_MAX: usize = 128 << 10;

/// The result of verifying a credential.
pub(super) enum Judgement {
    /// Signed by the issuer it names, and unaltered.
    Genuine(Box<Held>),
    /// Not genuine, for this reason.
    Forged(String),
    /// The issuer's key is unavailable now, for this reason.
    Unknown(String),
}

impl Wallet {
    /// Verifies a credential that came from the Credential Issuer `sender`. Whether to trust the issuer is the person's
    /// decision, and the credential's status is looked up when it is shown, so no status list is fetched here. The
    /// signature is checked once.
    pub(super) async fn judged(
        &self,
        tenant: &TenantId,
        (credential, sender): (&ReceivedCredential, &str),
    ) -> Result<Judgement> {
        if credential.raw.len() > CARD_BYTES_MAX {
            let reason = format!("it is longer than {} KiB", CARD_BYTES_MAX >> 10);
            return Ok(Judgement::Forged(reason));
        }
        let held = match Held::parse(&credential.raw, credential.format) {
            Ok(held) => held,
            Err(error) => return Ok(Judgement::Forged(error.to_string())),
        };
        let examination = Examination::of(&held);
        let policy = self.policy();
        let now = self.shared.clock.now();
        let about = (tenant, Freshness { max_status_age: 0 });
        let run = self
            .shared
            .run_on(self.without_status(&held), about, |evidence| {
                Ok::<_, Error>(examination.step(&policy, evidence, now))
            });
        Ok(match run.await? {
            (verdict, _) if is_in_anothers_name(&held, &verdict, sender) => Judgement::Forged(
                "no known certificate authority confirms that the issuer it names made it"
                    .to_owned(),
            ),
            // Claims are present only if the credential is neither forged nor left unverified.
            (_, Some(_)) => Judgement::Genuine(Box::new(held)),
            (verdict, None) if verdict.outcome == Outcome::Unverifiable => {
                Judgement::Unknown(reason(&verdict))
            }
            (verdict, None) => Judgement::Forged(reason(&verdict)),
        })
    }

    fn without_status(&self, held: &Held) -> Evidence {
        let mut evidence = self.shared.evidence();
        for reference in held.statuses() {
            let fetched = unavailable(self.shared.clock.now());
            evidence.insert_status_list(reference.uri.clone(), fetched);
        }
        if let Some((issuer, digest)) = super::super::cards::single_use(held) {
            let fetched = unavailable(self.shared.clock.now());
            evidence.insert_single_use(issuer, digest, fetched);
        }
        evidence
    }
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
