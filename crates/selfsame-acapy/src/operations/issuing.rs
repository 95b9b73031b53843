//! Issuing credentials (RFC 0453, RFC 0036). The steps of an exchange are the same in both versions; bodies that begin
//! one are not.

pub mod first;

use selfsame_agent::issue::{
    IssueWhat, IssuingProtocol, NamedFilter, NewCredentialOffer, NewCredentialProposal,
};
use selfsame_agent::{ExchangeBegin, Exchanges, Wishes};
use selfsame_aries::exchange::Preview;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::exchange::{
    ByFormat, ReportBody, acted, filters, found, listed, on_connection, removed,
};
use crate::answer::{OperationResult, cannot, done, told};
use crate::call::OperationCall;

/// The version of the protocol with bodies by format.
pub const LATEST: u16 = 2;
/// The code of a problem report.
const ABANDONED: &str = "issuance-abandoned";

fn exchanges<const MAJOR: u16>(call: &OperationCall) -> Exchanges<'_, IssuingProtocol> {
    call.agents().issuing().in_version(MAJOR)
}

/// A record as both versions answer with it after a first message.
fn flat(mut record: Value) -> Value {
    if let Some(members) = record.as_object_mut() {
        members.remove("detail");
    }
    record
}

/// A record with what each format knows of it, as version 2 shows it. A format that knows nothing is left out, since clients
/// made of ACA-Py's description take no `null` there.
fn detailed<const MAJOR: u16>(mut record: Value) -> Value {
    if MAJOR < LATEST {
        return record;
    }
    let mut shown = match record["detail"].take() {
        Value::Object(known) => known,
        _ => Map::new(),
    };
    shown.insert("cred_ex_record".to_owned(), flat(record));
    Value::Object(shown)
}

/// An offer that begins an exchange.
pub struct FirstOffer {
    /// The connection, unless it goes with an invitation.
    pub connection_id: Option<String>,
    /// The offer.
    pub offer: NewCredentialOffer,
    /// Whether the credential is issued on request.
    pub auto_issue: Option<bool>,
    /// Whether the record is removed at the end.
    pub auto_remove: Option<bool>,
}

impl FirstOffer {
    /// Begins the exchange.
    pub async fn begin<const MAJOR: u16>(self, call: &OperationCall) -> OperationResult {
        let begin = ExchangeBegin {
            connection_id: self.connection_id,
            major: MAJOR,
            wishes: Wishes {
                auto_issue: self.auto_issue,
                auto_remove: self.auto_remove,
                ..Wishes::default()
            },
        };
        let (issuing, what) = (call.agents().issuing(), IssueWhat::Offer(Some(self.offer)));
        let begun = issuing.begin(call.tenant()?, &begin, what).await?;
        told(&flat(begun))
    }
}

/// A proposal that begins an exchange.
struct FirstProposal {
    connection_id: String,
    proposal: NewCredentialProposal,
    auto_remove: Option<bool>,
}

impl FirstProposal {
    async fn begin<const MAJOR: u16>(self, call: &OperationCall) -> OperationResult {
        let begin = ExchangeBegin {
            connection_id: Some(self.connection_id),
            major: MAJOR,
            wishes: Wishes {
                auto_remove: self.auto_remove,
                ..Wishes::default()
            },
        };
        let (issuing, what) = (call.agents().issuing(), IssueWhat::Propose(self.proposal));
        let begun = issuing.begin(call.tenant()?, &begin, what).await?;
        told(&flat(begun))
    }
}

/// An offer or an issuing that begins.
#[derive(Deserialize)]
struct OfferBody {
    connection_id: Option<String>,
    credential_preview: Preview,
    filter: ByFormat,
    comment: Option<String>,
    auto_issue: Option<bool>,
    auto_remove: Option<bool>,
    replacement_id: Option<String>,
}

/// A body that begins with an offer, in either version.
trait VersionedOffer: Sized {
    /// The connection that it names.
    fn connection_id(&mut self) -> &mut Option<String>;

    /// Its offer.
    fn offer(self) -> OperationResult<FirstOffer>;

    /// With an offer on the connection, which is asked for before anything else that may be missing.
    fn sent(mut self) -> OperationResult<FirstOffer> {
        on_connection(self.connection_id().as_ref())?;
        self.offer()
    }

    /// With an offer that goes with an invitation.
    fn created(mut self) -> OperationResult<FirstOffer> {
        *self.connection_id() = None;
        self.offer()
    }
}

impl VersionedOffer for OfferBody {
    fn connection_id(&mut self) -> &mut Option<String> {
        &mut self.connection_id
    }

    fn offer(self) -> OperationResult<FirstOffer> {
        Ok(FirstOffer {
            connection_id: self.connection_id,
            offer: NewCredentialOffer {
                preview: self.credential_preview,
                filters: filters(self.filter)?,
                comment: self.comment,
                replacement_id: self.replacement_id,
            },
            auto_issue: self.auto_issue,
            auto_remove: self.auto_remove,
        })
    }
}

impl FirstOffer {
    /// The same, with the credential issued on request.
    fn issued(self) -> Self {
        Self {
            auto_issue: Some(true),
            ..self
        }
    }
}

/// Offers a credential on a connection, and issues it when it is requested.
pub async fn send(call: OperationCall) -> OperationResult {
    let offer = call.body::<OfferBody>()?.sent()?.issued();
    offer.begin::<LATEST>(&call).await
}

/// Offers a credential on a connection.
pub async fn send_offer(call: OperationCall) -> OperationResult {
    let offer = call.body::<OfferBody>()?.sent()?;
    offer.begin::<LATEST>(&call).await
}

/// Makes an offer that goes with an invitation, and issues when it is requested.
pub async fn create(call: OperationCall) -> OperationResult {
    let offer = call.body::<OfferBody>()?.created()?.issued();
    offer.begin::<LATEST>(&call).await
}

/// Makes an offer that goes with an invitation.
pub async fn create_offer(call: OperationCall) -> OperationResult {
    let offer = call.body::<OfferBody>()?.created()?;
    offer.begin::<LATEST>(&call).await
}

#[derive(Deserialize)]
struct ProposalBody {
    connection_id: String,
    credential_preview: Option<Preview>,
    filter: ByFormat,
    comment: Option<String>,
    auto_remove: Option<bool>,
}

/// Proposes a credential to its issuer.
pub async fn send_proposal(call: OperationCall) -> OperationResult {
    let body: ProposalBody = call.body()?;
    let proposal = FirstProposal {
        connection_id: body.connection_id,
        proposal: NewCredentialProposal {
            preview: body.credential_preview,
            filters: filters(body.filter)?,
            comment: body.comment,
        },
        auto_remove: body.auto_remove,
    };
    proposal.begin::<LATEST>(&call).await
}

/// No format here begins with a request.
pub async fn send_request_free(_call: OperationCall) -> OperationResult {
    let reason = selfsame_driver::Reason::new("agent-request-first");
    Err(cannot(reason))
}

/// The exchanges that fit the query.
pub async fn list<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let found = listed(&call, exchanges::<MAJOR>(&call)).await?;
    let results: Vec<Value> = found.into_iter().map(detailed::<MAJOR>).collect();
    told(&json!({ "results": results }))
}

/// An exchange.
pub async fn show<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let found = found(&call, exchanges::<MAJOR>(&call)).await?;
    told(&detailed::<MAJOR>(found))
}

/// Removes an exchange.
pub async fn remove<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    removed(&call, exchanges::<MAJOR>(&call)).await
}

#[derive(Deserialize)]
struct CounterBody {
    counter_proposal: Option<CounterProposal>,
}

#[derive(Deserialize)]
struct CounterProposal {
    credential_preview: Preview,
    filter: ByFormat,
    comment: Option<String>,
}

/// Answers a proposal with an offer.
pub async fn offer(call: OperationCall) -> OperationResult {
    let body: CounterBody = call.body()?;
    let offer = match body.counter_proposal {
        None => None,
        Some(counter) => Some(NewCredentialOffer {
            preview: counter.credential_preview,
            filters: filters(counter.filter)?,
            comment: counter.comment,
            replacement_id: None,
        }),
    };
    stepped::<LATEST>(&call, IssueWhat::Offer(offer)).await
}

/// A step after which the record is answered with as it is.
async fn stepped<const MAJOR: u16>(call: &OperationCall, what: IssueWhat) -> OperationResult {
    let record = acted(call, exchanges::<MAJOR>(call), what).await?;
    told(&flat(record))
}

/// Requests what was offered.
pub async fn request<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    stepped::<MAJOR>(&call, IssueWhat::Request).await
}

#[derive(Deserialize)]
struct IssueBody {
    comment: Option<String>,
}

/// Issues what was requested.
pub async fn issue<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let body: IssueBody = call.body()?;
    let what = IssueWhat::Issue {
        comment: body.comment,
    };
    let record = acted(&call, exchanges::<MAJOR>(&call), what).await?;
    told(&detailed::<MAJOR>(record))
}

#[derive(Deserialize)]
struct StoreBody {
    credential_id: Option<String>,
}

/// Keeps the credential.
pub async fn store<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let body: StoreBody = call.body()?;
    let what = IssueWhat::Store {
        credential_id: body.credential_id,
    };
    let record = acted(&call, exchanges::<MAJOR>(&call), what).await?;
    told(&detailed::<MAJOR>(record))
}

/// Ends an exchange.
pub async fn report<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let body: ReportBody = call.body()?;
    let what = IssueWhat::Abandon(body.report(ABANDONED));
    acted(&call, exchanges::<MAJOR>(&call), what).await?;
    done()
}
