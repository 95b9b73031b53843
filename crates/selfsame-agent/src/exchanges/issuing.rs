//! Issuing a credential (RFC 0453, RFC 0036), as records of the agent.

mod making;

use async_trait::async_trait;
use selfsame_agent_view::exchange::{self as shown, CredentialOutcome};
use selfsame_anoncreds_wallet::{DefinitionFilter, IssuanceState, IssuanceView};
use selfsame_aries::advance::{Footing, Outgoing, Problem};
use selfsame_aries::exchange::{Payload, Preview};
use selfsame_aries::formats::CredentialFilter;
use selfsame_aries::issue_credential::{
    CredentialExchange, IssueCredential, IssueExtra, IssueInput, IssueSpeech, IssueState, step,
};
use selfsame_aries::notification::ProblemReport;
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::{At, FlowResult};
use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_store::{Batch, Tag};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ExchangeEntry, ExchangeGiven, ExchangeProtocol, ExchangeRun, KeptCourse, MadeForStep, ShownAs,
    Unmade, Wishes,
};
use crate::machine::{AgentProtocol, AgentTurn, Parcel, Startable, Taken};
use crate::parts::AgentParts;
use selfsame_mediation::beside::KeptBeside;
use selfsame_mediation::destination::settling::LastSent;
use selfsame_mediation::notice::{Told, Untold};

/// The records of issuing.
pub type IssueEntry = ExchangeEntry<IssueCredential>;

/// The protocol issue-credential.
pub struct IssuingProtocol;

/// What the agent knows of an issuing beside the protocol.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct IssueDetails {
    /// What the next step needs of the one before: the holder's to finish the credential, or the issuer's to issue it. Secret.
    pub metadata: Option<String>,
    /// The credential's identifier in the holder's wallet.
    pub credential_id: Option<String>,
    /// The revocation registry of the credential.
    pub rev_reg_id: Option<String>,
    /// The credential's index there.
    pub cred_rev_id: Option<u32>,
    /// The name of the format in which the credential is issued.
    pub format: Option<String>,
}

impl IssueDetails {
    fn outcome(&self) -> CredentialOutcome<'_> {
        CredentialOutcome {
            format: self.format.as_deref(),
            credential_id: self.credential_id.as_deref(),
            rev_reg_id: self.rev_reg_id.as_deref(),
            cred_rev_id: self.cred_rev_id,
        }
    }
}

/// What an issuing is given.
pub type IssueGiven = ExchangeGiven<IssueWhat, IssueMade>;

/// What happens in an issuing.
pub enum IssueWhat {
    /// A message of the protocol came.
    Received(Box<Incoming<IssueSpeech>>),
    /// The holder proposes a credential.
    Propose(NewCredentialProposal),
    /// The issuer offers one; without terms, what was proposed.
    Offer(Option<NewCredentialOffer>),
    /// The holder requests what was offered.
    Request,
    /// The issuer issues what was requested.
    Issue {
        /// A text for people.
        comment: Option<String>,
    },
    /// The holder keeps the credential, under this identifier if one is given.
    Store {
        /// The identifier.
        credential_id: Option<String>,
    },
    /// Ends the exchange.
    Abandon(ProblemReport),
    /// The credential was revoked.
    Revoke,
}

/// A proposal of a credential.
#[derive(Clone, Debug, Default)]
pub struct NewCredentialProposal {
    /// The attributes.
    pub preview: Option<Preview>,
    /// The credential definition, by the name of each format.
    pub filters: Vec<NamedFilter>,
    /// A text for people.
    pub comment: Option<String>,
}

/// An offer of a credential.
#[derive(Clone, Debug, Default)]
pub struct NewCredentialOffer {
    /// The attributes.
    pub preview: Preview,
    /// The credential definition, by the name of each format.
    pub filters: Vec<NamedFilter>,
    /// A text for people.
    pub comment: Option<String>,
    /// The credential that this one replaces.
    pub replacement_id: Option<String>,
}

/// A filter in a format.
#[derive(Clone, Debug)]
pub struct NamedFilter {
    /// The format's name, such as `indy`.
    pub format: String,
    /// The filter.
    pub filter: CredentialFilter,
}

impl NamedFilter {
    /// The credential definitions that fit.
    #[must_use]
    pub fn definitions(&self) -> DefinitionFilter {
        let filter = self.filter.clone();
        DefinitionFilter {
            cred_def_id: filter.cred_def_id,
            issuer: filter.issuer,
            schema_id: filter.schema_id,
            schema_issuer: filter.schema_issuer,
            schema_name: filter.schema_name,
            schema_version: filter.schema_version,
        }
    }
}

/// What was made for a step.
pub enum IssueMade {
    Proposal(Payload),
    Offer(MadeOffer),
    Request(MadeRequest),
    Credential(MadeCredential),
    Stored(KeptBeside),
    Nothing(Unmade),
}

pub struct MadeOffer {
    pub payload: Payload,
    pub metadata: Option<String>,
}

pub struct MadeRequest {
    pub payload: Payload,
    pub metadata: String,
    pub format: String,
}

pub struct MadeCredential {
    pub payload: Payload,
    pub cred_def_id: String,
    pub rev_reg_id: Option<String>,
    pub cred_rev_id: Option<u32>,
    pub id: Option<String>,
    pub format: String,
    pub writes: Batch,
}

#[async_trait]
impl AgentProtocol for IssuingProtocol {
    const KIND: &'static str = "aries_issuing";
    type Entry = IssueEntry;
    type Input = IssueGiven;

    fn step(
        entry: &mut IssueEntry,
        given: &IssueGiven,
        turn: &AgentTurn<'_>,
    ) -> std::result::Result<Step<Taken<IssueEntry>>, Problem> {
        let input = match &given.what {
            IssueWhat::Received(message) => Some(IssueInput::Received((**message).clone())),
            IssueWhat::Abandon(report) => Some(IssueInput::Abandon(report.clone())),
            IssueWhat::Revoke => Some(IssueInput::Revoke),
            _ => None,
        };
        let first =
            input.map(|input| move |place: Footing<'_, _>| step(place, &input, turn.round.ctx));
        given.step(entry, turn, first)
    }

    fn tags(entry: &IssueEntry) -> Vec<Tag> {
        let (details, mut tags) = (&entry.details, entry.tags());
        if let (Some(rev_reg_id), Some(cred_rev_id)) = (&details.rev_reg_id, details.cred_rev_id) {
            tags.push(place_tag(rev_reg_id, &cred_rev_id.to_string()));
        }
        tags
    }

    fn expires(entry: &IssueEntry) -> Option<UnixTime> {
        entry.expires
    }

    fn report(_entry: &IssueEntry, given: &IssueGiven, report: &Outgoing) -> Option<Parcel> {
        given.report(report)
    }

    fn untold(entry: &mut IssueEntry) -> &mut Untold {
        &mut entry.untold
    }

    fn result(entry: &IssueEntry) -> Option<FlowResult> {
        entry.result()
    }

    fn is_ended(entry: &IssueEntry) -> bool {
        entry.is_ended
    }

    fn last_sent(entry: &mut IssueEntry) -> Option<&mut LastSent> {
        Some(&mut entry.last_sent)
    }

    async fn prepare(
        agent: &AgentParts,
        at: At<'_>,
        entry: &IssueEntry,
        given: &mut IssueGiven,
    ) -> Result<()> {
        if given.made.is_none() {
            given.made = making::made(agent, at, entry, given).await?;
        }
        Ok(())
    }
}

impl ExchangeProtocol for IssuingProtocol {
    type Course = IssueCredential;
    type What = IssueWhat;
    type Made = IssueMade;

    fn received(message: Incoming<IssueSpeech>) -> IssueWhat {
        IssueWhat::Received(Box::new(message))
    }
}

impl Startable for IssuingProtocol {
    fn record_id(entry: &IssueEntry) -> String {
        entry.id()
    }
}

impl KeptCourse for IssueCredential {
    type Details = IssueDetails;
    const TOPICS: [&'static str; 2] = ["issue_credential", "issue_credential_v2_0"];

    fn set(extra: &mut IssueExtra, wishes: Wishes) {
        extra.auto_issue = wishes.auto_issue.unwrap_or(extra.auto_issue);
        extra.auto_remove = wishes.auto_remove.unwrap_or(extra.auto_remove);
    }

    fn is_spent(exchange: &CredentialExchange) -> bool {
        exchange.extra.auto_remove && exchange.state == IssueState::Done
    }

    fn shown(id: &str, exchange: &CredentialExchange, of: ShownAs<'_, Self>) -> Value {
        shown::credential(id, exchange, &of.details.outcome(), of.depth)
    }
}

impl MadeForStep<IssueCredential> for IssueMade {
    fn apply(
        &self,
        run: &mut ExchangeRun<'_, IssueCredential>,
    ) -> std::result::Result<(), Problem> {
        let input = match self {
            Self::Proposal(payload) => IssueInput::Propose(payload.clone()),
            Self::Offer(made) => IssueInput::Offer(made.payload.clone()),
            Self::Request(made) => IssueInput::Request(made.payload.clone()),
            Self::Credential(made) => IssueInput::Issue(made.payload.clone()),
            Self::Stored(_) => IssueInput::Store,
            Self::Nothing(Unmade::Refused(_)) => IssueInput::Abandon(ProblemReport::default()),
            Self::Nothing(Unmade::Failed(why)) => {
                run.note(why);
                return Ok(());
            }
        };
        let ctx = run.ctx();
        run.take(|place| step(place, &input, ctx))?;
        let details = run.details();
        match self {
            Self::Offer(made) => details.metadata.clone_from(&made.metadata),
            Self::Request(made) => {
                details.metadata = Some(made.metadata.clone());
                details.format = Some(made.format.clone());
            }
            Self::Credential(made) => {
                details.rev_reg_id.clone_from(&made.rev_reg_id);
                details.cred_rev_id = made.cred_rev_id;
                details.credential_id.clone_from(&made.id);
                details.metadata = None;
                details.format = Some(made.format.clone());
                run.write(&made.writes);
            }
            Self::Stored(kept) => {
                // It finishes one credential, once.
                details.metadata = None;
                details.credential_id = Some(kept.id.clone());
                details.rev_reg_id.clone_from(&kept.rev_reg_id);
                details.cred_rev_id = kept.cred_rev_id;
                run.write(&kept.writes);
            }
            Self::Nothing(Unmade::Refused(why)) => run.note(why),
            _ => {}
        }
        run.tell(|entry| self.told(entry, ctx.now()));
        Ok(())
    }
}

impl IssueMade {
    /// What controllers are told of what the step made beside the record: what the format knows, and a place in a registry.
    fn told(&self, entry: &IssueEntry, now: UnixTime) -> Vec<Told> {
        let has_detail = matches!(
            self,
            Self::Request(_) | Self::Credential(_) | Self::Stored(_)
        );
        let detail = has_detail.then(|| detail_told(entry)).flatten();
        let issued = match self {
            Self::Credential(made) => made.issued(&entry.id(), now),
            _ => None,
        };
        detail.into_iter().chain(issued).collect()
    }
}

impl MadeCredential {
    /// What controllers are told of a credential that can be revoked.
    fn issued(&self, exchange: &str, now: UnixTime) -> Option<Told> {
        Some(issuer_record(&IssuanceView {
            rev_reg_id: self.rev_reg_id.clone()?,
            cred_rev_id: self.cred_rev_id?,
            cred_def_id: self.cred_def_id.clone(),
            exchange: Some(exchange.to_owned()),
            issued: now.0,
            state: IssuanceState::Issued,
        }))
    }
}

/// What controllers are told of an issued credential that can be revoked (`IssuerCredRevRecord`).
fn issuer_record(issued: &IssuanceView) -> Told {
    Told::new("issuer_cred_rev", &issued.record())
}

/// What controllers are told of what the format knows of an exchange; version 1 has it in the record.
fn detail_told(entry: &IssueEntry) -> Option<Told> {
    let exchange = entry.exchange.as_ref()?;
    let format = entry.details.format.as_deref()?;
    let outcome = entry.details.outcome();
    let detail = outcome
        .detail(&entry.id())
        .filter(|_| exchange.version().major > 1)?;
    let topic = format!("issue_credential_v2_0_{format}");
    Some(Told::new(&topic, detail.get(format)?))
}

/// Finds the exchange that issued the credential at a place of a revocation registry.
pub fn place_tag(rev_reg_id: &str, cred_rev_id: &str) -> Tag {
    Tag::hashed("aries_revocation", format!("{rev_reg_id}::{cred_rev_id}"))
}
