//! The verifier: requests presentations, receives them, and verifies them.

mod ask;
mod judge;
mod naming;
mod protocol;
mod signing;
mod spending;
mod visitors;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use selfsame_credential::Format;
use selfsame_credential::verdict::{Outcome, Policy, Trust};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, jwk};
use selfsame_driver::crowd::Crowd;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Reason, Result};
use selfsame_openid4vc::verifier::{Declined, Judged, RefusedAnswers, VerificationState};
use selfsame_openid4vc::wire::request::ClientId;
use selfsame_store::{Record, TenantId};
use selfsame_types::TypeSet;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::view::verifier as view;
use crate::view::verifier::{
    CredentialVerdict, PresentationVerdict, RequestState, VerificationStatus,
};
use selfsame_core::Shared;
use selfsame_core::config::NamedDid;
use selfsame_core::dids::Dids;
use selfsame_core::identity::{Identity, is_portable};
use selfsame_core::machine::{At, FlowOrigin};
use selfsame_core::organisation::Organisation;
use selfsame_core::organisation::trust::{OrganisationTrust, TrustInAll};
use selfsame_core::trust::Trusted;
use selfsame_driver::record::RecordCache;

use spending::Spending;

pub use ask::{Occasion, Visit, WantedRequest, can_be_checked};
pub use signing::SigningClient;
pub use visitors::VisitedPlace;

/// The kind of the records that hold requests.
pub(crate) const VERIFICATION: &str = "verification";

fn unknown_format() -> Error {
    Error::bad_request("format-unsupported").with("known", &Format::names())
}

fn unknown() -> Error {
    Error::not_found("request-unknown")
}

/// The verifier of one instance.
pub struct Verifier {
    shared: Arc<Shared>,
    context: Arc<Context>,
    identity: Arc<Identity>,
    dids: Dids,
    records: Arc<RequestCache>,
    judging: Crowd,
    trust: OrganisationTrust,
}

/// Maximum number of answers to one request verified at once.
const JUDGED_AT_ONCE: usize = 4;

/// The requests of all verifiers of an instance that are held in memory. Versions of records are unique in a store, so
/// records of all organisations have one cache.
pub(crate) type RequestCache = RecordCache<RequestRecord>;

/// A request as it is stored.
#[derive(Deserialize, Serialize)]
pub struct RequestRecord {
    state: VerificationState,
    title: String,
    created: UnixTime,
    /// Maximum age of a status list in seconds, if the request sets one.
    #[serde(default)]
    max_status_age: Option<u64>,
    /// SHA-256 of the secret of the browser that asked, in the same-device flow.
    browser: Option<[u8; 32]>,
    /// The DID that is to use up the credential shown, if the request says so.
    #[serde(default)]
    spender: Option<Did>,
    /// The use or revocation ordered from the registry, and its result.
    #[serde(default)]
    spending: Option<Spending>,
    /// The saved request that it was opened from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<String>,
    /// The text of the one who opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// The issuers to accept a type from, by its `vct` or W3C type, as they were when it was created.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    issuers: BTreeMap<String, Vec<String>>,
    /// When and in which trace it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<FlowOrigin>,
}

/// Whether a request can still be answered.
///
/// # Errors
/// If the record is not a request.
pub(crate) fn is_open(record: &Record) -> Result<bool> {
    let kept: RequestRecord = decode(&record.value)?;
    Ok(matches!(
        kept.state,
        VerificationState::Created(_) | VerificationState::Fetched(_)
    ))
}

impl Verifier {
    /// The credential types that it can request.
    ///
    /// # Errors
    /// The store's.
    pub async fn types(&self) -> Result<Arc<TypeSet>> {
        self.context.types_now().await
    }

    /// The verifier with this identity.
    #[must_use]
    pub(crate) fn new(
        shared: Arc<Shared>,
        context: Arc<Context>,
        identity: Arc<Identity>,
        records: Arc<RequestCache>,
    ) -> Self {
        let tenant = context.organisation.verifier.clone();
        let trust = OrganisationTrust::new(shared.clone(), tenant);
        Self {
            dids: Dids::new(shared.clone()),
            shared,
            context,
            identity,
            records,
            judging: Crowd::new(JUDGED_AT_ONCE),
            trust,
        }
    }

    /// The issuers that its organisation trusts.
    #[must_use]
    pub fn trust(&self) -> &OrganisationTrust {
        &self.trust
    }

    /// The tenant of its records.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.context.organisation.verifier
    }

    /// Its organisation.
    #[must_use]
    pub fn organisation(&self) -> &Organisation {
        &self.context.organisation
    }

    /// The names under which its organisation itself issues.
    #[must_use]
    pub fn own_issuers(&self) -> &[String] {
        self.context.own_issuers()
    }

    /// What the roles of its instance share.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The place of a request.
    fn at<'a>(&'a self, id: &'a str) -> At<'a> {
        At {
            tenant: self.tenant(),
            id,
        }
    }

    /// Whether it can use up credentials: only a DID of a registry can.
    #[must_use]
    pub fn can_spend(&self) -> bool {
        self.identity.did().origin().is_registry()
    }

    /// Whether it has a certificate to identify itself by.
    #[must_use]
    pub fn has_certificate(&self) -> bool {
        self.context.verifier_certificate.is_some()
    }

    /// Its identity.
    #[must_use]
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// The DID that its requests name: the `did:jwk` of its key if few wallets can resolve the method of its own DID.
    #[must_use]
    pub fn client_did(&self) -> Did {
        let own = self.identity.did();
        match self.context.config.verifier.client_did {
            NamedDid::Portable if !is_portable(own) => jwk::create(self.identity.public()),
            NamedDid::Portable | NamedDid::Own => own.clone(),
        }
    }

    /// Its name for people: of the settings, or its organisation's title.
    #[must_use]
    pub fn name(&self) -> String {
        match self.context.organisation.name.is_main() {
            true => self.context.config.verifier.name.clone(),
            false => self.context.title().to_string(),
        }
    }

    /// Its client identifier by that DID.
    #[must_use]
    pub fn client_id(&self) -> String {
        ClientId::DecentralizedIdentifier(self.client_did()).to_string()
    }

    /// The policy for credentials: from the configuration, and the issuers trusted now, by the instance and by the
    /// organisation as its list was read before.
    fn policy(&self, max_status_age: u64) -> Policy {
        let config = &self.context.config;
        let trusted = self.shared.trust.now();
        let entries = &self.trust.latest().entries;
        let all = TrustInAll::of(&trusted, self.context.own_issuers(), entries);
        Policy {
            trusted_issuers: Trust::Listed(all.issuers),
            issuer_types: all.types,
            trust_anchors: trusted.anchors.clone(),
            authorities: self.authorities(&trusted),
            // A list fetched for this verification may be a second old by the clock.
            max_status_age: Some(max_status_age.max(1)),
            max_status_signed_age: config.verifier.max_status_signed_age,
            max_keys_age: config.verifier.max_keys_age,
            leeway: 60,
            accept_did_issuers: true,
            certificates_alone: config.verifier.profile.is_some(),
            ..Policy::default()
        }
    }

    /// Reads whom it trusts, before it verifies.
    async fn read_trust(&self) -> Result<()> {
        self.trust.now().await?;
        self.context.documents.authority().await?;
        Ok(())
    }

    /// The authorities of mobile documents that it trusts: those of the instance, and that of its own organisation.
    fn authorities(&self, trusted: &Trusted) -> Vec<Vec<u8>> {
        let own = match self.context.own_issuers().is_empty() {
            true => None,
            false => self.context.documents.latest_authority(),
        };
        trusted.authorities.iter().cloned().chain(own).collect()
    }

    /// The policy for the answer to this request.
    fn policy_of(&self, record: &RequestRecord, max_status_age: u64) -> Policy {
        Policy {
            issuers_by_type: record.issuers.clone(),
            ..self.policy(max_status_age)
        }
    }

    /// Maximum age of a status list for this request, in seconds.
    fn max_status_age(&self, record: &RequestRecord) -> u64 {
        let configured = self.context.config.verifier.max_status_age;
        record
            .max_status_age
            .map_or(configured, |asked| asked.min(configured))
    }

    /// The request as it is stored, with its version.
    async fn record(&self, id: &str) -> Result<(RequestRecord, u64)> {
        let store = &self.shared.store;
        let found = self
            .records
            .find(store, self.tenant(), VERIFICATION, id)
            .await?;
        found.ok_or_else(unknown)
    }

    /// The link for a wallet.
    fn link(&self, record: &RequestRecord) -> String {
        let link = selfsame_openid4vc::verifier::request::link(record.state.asked(), None);
        let verifier = &self.context.config.verifier;
        verifier.invoking(link.unwrap_or_default())
    }

    fn view(&self, id: &str, record: &RequestRecord) -> VerificationStatus {
        let left = record.state.asked().expires.0;
        let left = left.saturating_sub(self.shared.clock.now().0);
        let (state, verdict, error) = match &record.state {
            VerificationState::Created(_) | VerificationState::Fetched(_) if left == 0 => {
                (RequestState::Expired, None, None)
            }
            VerificationState::Created(_) => (RequestState::Created, None, None),
            VerificationState::Fetched(_) => (RequestState::Fetched, None, None),
            VerificationState::Answered(_)
                if record.spending.as_ref().is_some_and(Spending::holds_back) =>
            {
                (RequestState::Spending, None, None)
            }
            VerificationState::Answered(answered) => (
                RequestState::Answered,
                Some(verdict(&answered.judged)),
                None,
            ),
            VerificationState::Declined(Declined { error, .. }) => {
                (RequestState::Declined, None, Some(error.clone()))
            }
        };
        VerificationStatus {
            id: id.to_owned(),
            state,
            uri: self.link(record),
            title: record.title.clone(),
            saved: record.saved.clone(),
            reference: record.reference.clone(),
            created: record.created.rfc3339(),
            verdict,
            error,
            refused: match &record.state {
                VerificationState::Fetched(fetched) => fetched.refused.as_deref().map(refused),
                _ => None,
            },
            spending: record.spending.as_ref().map(Spending::view),
            open_for: matches!(state, RequestState::Created | RequestState::Fetched)
                .then_some(Duration::from_secs(left)),
        }
    }
}

/// Waits until the time to answer a request has run out; for ever, if the request awaits no answer.
pub async fn expiry(open_for: Option<Duration>) {
    match open_for {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}

fn refused(refused: &RefusedAnswers) -> view::RefusedAnswers {
    view::RefusedAnswers {
        count: refused.count,
        last: verdict(&refused.last),
    }
}

/// The reason, with the name of the setting if the operator can decide it.
fn reason(judged: &Judged) -> Option<Reason> {
    let reason = judged.reason.as_deref()?;
    Some(match judged.outcome {
        Outcome::Untrusted => Reason::new("issuer-untrusted").with("detail", reason),
        _ => Reason::read(reason),
    })
}

fn verdict(judged: &Judged) -> PresentationVerdict {
    PresentationVerdict {
        outcome: judged.outcome,
        reason: reason(judged),
        credentials: judged
            .credentials
            .iter()
            .map(|judged| {
                let claims = judged.claims.clone();
                CredentialVerdict::new(&judged.query_id, &judged.verdict, claims)
            })
            .collect(),
    }
}
