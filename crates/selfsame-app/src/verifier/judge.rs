//! Verifies stored answers again, and credentials on their own.

use selfsame_credential::Format;
use selfsame_credential::verdict::{Outcome, Verdict};
use selfsame_credential::verify::{Examination, Presented};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::verifier::{self, Input, Judged, State};
use selfsame_store::Batch;

use super::{Spending, VERIFICATION, Verifier, tenant, unknown_format};
use crate::events::EventKind;
use crate::gather::Freshness;
use crate::view::verifier::{CredentialVerdict, VerificationStatus};

impl Verifier {
    /// Verifies an answered request again, with status lists fetched now.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if there is no answer yet.
    pub async fn recheck(&self, id: &str) -> Result<VerificationStatus> {
        let (mut kept, version) = self.record(id).await?;
        if !matches!(kept.state, State::Answered(_)) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "there is no answer to judge yet",
            ));
        }
        if kept.spending.as_ref().is_some_and(Spending::is_pending) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "the registry has not answered yet",
            ));
        }
        self.judge_again(&mut kept.state).await?;
        let batch = Batch::new(tenant()).update_version(VERIFICATION, id, version, encode(&kept)?);
        self.shared.store.commit(batch).await?;
        if let State::Answered(answered) = &kept.state {
            log_refusal(id, &answered.judged);
        }
        self.shared.events.tell(EventKind::Verification, id);
        Ok(self.view(id, &kept))
    }

    /// Verifies an answer with status lists fetched now.
    pub(super) async fn judge_again(&self, state: &mut State) -> Result<()> {
        let policy = self.policy(0);
        let input = Input::Recheck { policy: &policy };
        let ctx = self.shared.clock.ctx();
        let (judged, _) = self
            .shared
            .run(&tenant(), Freshness { max_status_age: 0 }, |evidence| {
                verifier::step(state, input, evidence, &ctx)
            })
            .await?;
        *state = judged;
        Ok(())
    }

    /// Verifies a credential on its own, without holder binding and nonce.
    ///
    /// # Errors
    /// `BadRequest` if the text is not a credential of a known format.
    pub async fn verify(
        &self,
        credential: &str,
        format: Option<&str>,
    ) -> Result<CredentialVerdict> {
        let format = match format {
            Some(name) => name.parse().map_err(|_| unknown_format())?,
            None => Format::guess(credential),
        };
        let presented = Presented {
            format,
            raw: credential,
            expected: None,
        };
        let examination = Examination::new(&presented).map_err(|malformed| {
            Error::bad_request(malformed.to_string())
                .with_hint("give the credential alone: an SD-JWT with its disclosures, or a JWT")
        })?;
        let max_status_age = self.shared.config.verifier.max_status_age;
        let policy = self.policy(max_status_age);
        let now = self.shared.clock.now();
        let freshness = Freshness { max_status_age };
        let (verdict, claims) = self
            .shared
            .run(&tenant(), freshness, |evidence| {
                Ok::<_, Error>(examination.step(&policy, evidence, now))
            })
            .await?;
        if is_wrong(verdict.outcome) {
            let outcome = verdict.outcome.as_str();
            tracing::warn!(outcome, reason = broken(&verdict), "not found valid");
        }
        Ok(CredentialVerdict::new("", &verdict, claims.cloned()))
    }
}

/// Whether something is wrong with the presentation. Revoked, suspended and spent are regular negative results.
fn is_wrong(outcome: Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::Valid | Outcome::Revoked | Outcome::Spent | Outcome::Suspended
    )
}

/// Logs an answer that something is wrong with, and the rules it breaks.
pub(super) fn log_refusal(request: &str, judged: &Judged) {
    if !is_wrong(judged.outcome) {
        return;
    }
    let mut reasons: Vec<String> = judged
        .credentials
        .iter()
        .filter(|credential| credential.verdict.outcome != Outcome::Valid)
        .map(|one| broken(&one.verdict))
        .collect();
    reasons.extend(judged.reason.clone());
    let (outcome, reason) = (judged.outcome.as_str(), reasons.join("; "));
    tracing::warn!(request, outcome, reason, "not found valid");
}

/// The rules that failed, or could not be checked and say why; none of them contains a claim's value.
fn broken(verdict: &Verdict) -> String {
    let wanted = match verdict.outcome {
        Outcome::Unverifiable => None,
        _ => Some(false),
    };
    let rules = verdict
        .rules
        .iter()
        .filter(|rule| rule.passed == wanted || rule.passed == Some(false));
    let told: Vec<String> = rules
        .map(|rule| format!("{} ({}): {}", rule.name, rule.paragraph, rule.detail))
        .collect();
    told.join("; ")
}
