//! Verifies stored answers again, and credentials on their own.

use selfsame_credential::Format;
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_credential::format::Profile;
use selfsame_credential::verdict::{Outcome, Verdict};
use selfsame_credential::verify::{Examination, Presented};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::verifier::{self, Input, Judged, VerificationState};

use super::{RequestRecord, Spending, VERIFICATION, Verifier, unknown, unknown_format};
use crate::refusal::refusal;
use crate::view::verifier::{CredentialVerdict, VerificationStatus};
use selfsame_core::events::EventKind;
use selfsame_core::gather::Freshness;
use selfsame_core::machine::{Machine, Next, Round};
use selfsame_driver::record::RecordCache;

impl Verifier {
    /// Verifies an answered request again, with status lists fetched now.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if there is no answer yet.
    pub async fn recheck(&self, id: &str) -> Result<VerificationStatus> {
        self.read_trust().await?;
        let driven = self
            .shared
            .drive(&Rechecking(self), self.at(id), ())
            .await?;
        self.named(driven.reply).await
    }

    /// The state of an answer that is verified again.
    pub(super) fn judged_again(
        &self,
        kept: &RequestRecord,
        round: &Round<'_>,
    ) -> Result<Step<VerificationState>> {
        let policy = self.policy_of(kept, 0);
        let input = Input::Recheck { policy: &policy };
        let taken = verifier::step(&kept.state, input, round.evidence, round.ctx);
        Ok(match taken.map_err(refusal)? {
            Step::Needs(needs) => Step::Needs(needs),
            Step::Done(next) => Step::Done(next.state),
        })
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
        self.judge(&presented).await
    }

    /// Verifies what somebody has presented, with status lists as new as the settings ask for.
    ///
    /// # Errors
    /// `BadRequest` if the text is not of its format; `TooMany` if too much waits for the pool that long work goes to.
    pub async fn judge(&self, presented: &Presented<'_>) -> Result<CredentialVerdict> {
        let max_status_age = self.context.config.verifier.max_status_age;
        self.read_trust().await?;
        let (policy, now) = (self.policy(max_status_age), self.shared.clock.now());
        let (format, raw) = (presented.format, presented.raw.to_owned());
        let expected = presented.expected.cloned();
        let step = move |evidence: &Evidence| {
            let presented = Presented {
                format,
                raw: &raw,
                expected: expected.as_ref(),
            };
            let read = Examination::once(&presented, evidence).map_err(|malformed| {
                Error::bad_request("credential-malformed").with("detail", &malformed)
            });
            Ok::<_, Error>(match read?.step(&policy, evidence, now) {
                Step::Needs(needs) => Step::Needs(needs),
                Step::Done((verdict, claims)) => Step::Done((verdict, claims.cloned())),
            })
        };
        let (tenant, freshness) = (self.tenant(), Freshness { max_status_age });
        let (verdict, claims) = match format.describe().profile {
            // Datasets can be made that are hard to put into canonical form.
            Profile::DataIntegrity => self.shared.run_apart(tenant, freshness, step).await?,
            _ => self.shared.run(tenant, freshness, step).await?,
        };
        if is_wrong(verdict.outcome) {
            let outcome = verdict.outcome.as_str();
            tracing::warn!(outcome, reason = broken(&verdict), "not found valid");
        }
        let mut verdict = CredentialVerdict::new("", &verdict, claims);
        self.names().await?.name_one(&mut verdict);
        Ok(verdict)
    }
}

/// The machine that verifies a stored answer again.
struct Rechecking<'a>(&'a Verifier);

impl Machine for Rechecking<'_> {
    const KIND: &'static str = VERIFICATION;
    type Record = RequestRecord;
    type Input = ();
    type Reply = VerificationStatus;

    fn records(&self) -> &RecordCache<RequestRecord> {
        &self.0.records
    }

    fn step(
        &self,
        kept: &mut RequestRecord,
        (): &(),
        round: &Round<'_>,
    ) -> Result<Step<Next<VerificationStatus>>> {
        if !matches!(kept.state, VerificationState::Answered(_)) {
            return Err(Error::new(ErrorKind::Conflict, "answer-absent"));
        }
        if kept.spending.as_ref().is_some_and(Spending::is_pending) {
            return Err(Error::new(ErrorKind::Conflict, "registry-undecided"));
        }
        kept.state = match self.0.judged_again(kept, round)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(state) => state,
        };
        kept.remember_refused_use();
        if let VerificationState::Answered(answered) = &kept.state {
            log_refusal(round.at.id, &answered.judged);
        }
        let status = self.0.view(round.at.id, kept);
        let next = Next::written(round, status);
        Ok(Step::Done(next.tell(EventKind::Verification, round.at.id)))
    }

    fn absent(&self, (): &()) -> Result<VerificationStatus> {
        Err(unknown())
    }
}

/// Whether something is wrong with the presentation. Revoked, suspended, spent and a use without the issuer's permission
/// are regular negative results.
fn is_wrong(outcome: Outcome) -> bool {
    use Outcome::{NotAuthorised, Revoked, Spent, Suspended, Valid};
    !matches!(outcome, Valid | Revoked | Spent | Suspended | NotAuthorised)
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
