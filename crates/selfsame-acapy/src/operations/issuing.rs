//! Issuing credentials (RFC 0453).

use selfsame_agent::{ExchangeBegin, IssueWhat, NewCredentialOffer, NewCredentialProposal, Wishes};
use selfsame_aries::exchange::Preview;
use serde::Deserialize;
use serde_json::{Value, json};

use super::exchange::{ByFormat, RecordsQuery, ReportBody, filters};
use crate::answer::{OperationError, OperationResult, cannot, done, told};
use crate::call::OperationCall;

/// The version of the protocol.
const MAJOR: u16 = 2;
/// The code of a problem report.
const ABANDONED: &str = "issuance-abandoned";

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

impl OfferBody {
    /// Begins with an offer on the connection, or with one that goes with an invitation.
    async fn offer(self, call: &OperationCall, auto_issue: Option<bool>) -> OperationResult {
        let begin = ExchangeBegin {
            connection_id: self.connection_id,
            major: MAJOR,
            wishes: Wishes {
                auto_issue,
                auto_remove: self.auto_remove,
                ..Wishes::default()
            },
        };
        let offer = NewCredentialOffer {
            preview: self.credential_preview,
            filters: filters(self.filter)?,
            comment: self.comment,
            replacement_id: self.replacement_id,
        };
        let what = IssueWhat::Offer(Some(offer));
        told(
            &call
                .agents()
                .issuing()
                .begin(call.tenant()?, &begin, what)
                .await?,
        )
    }

    fn on_connection(&self) -> OperationResult<()> {
        match self.connection_id {
            Some(_) => Ok(()),
            None => Err(OperationError::field(
                "connection_id",
                "Missing data for required field.",
            )),
        }
    }
}

/// Offers a credential on a connection, and issues it when it is requested.
pub async fn send(call: OperationCall) -> OperationResult {
    let body: OfferBody = call.body()?;
    body.on_connection()?;
    body.offer(&call, Some(true)).await
}

/// Offers a credential on a connection.
pub async fn send_offer(call: OperationCall) -> OperationResult {
    let body: OfferBody = call.body()?;
    body.on_connection()?;
    let auto_issue = body.auto_issue;
    body.offer(&call, auto_issue).await
}

/// Makes an offer that goes with an invitation, and issues when it is requested.
pub async fn create(call: OperationCall) -> OperationResult {
    let body: OfferBody = call.body()?;
    let body = OfferBody {
        connection_id: None,
        ..body
    };
    body.offer(&call, Some(true)).await
}

/// Makes an offer that goes with an invitation.
pub async fn create_offer(call: OperationCall) -> OperationResult {
    let body: OfferBody = call.body()?;
    let auto_issue = body.auto_issue;
    let body = OfferBody {
        connection_id: None,
        ..body
    };
    body.offer(&call, auto_issue).await
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
    let begin = ExchangeBegin {
        connection_id: Some(body.connection_id),
        major: MAJOR,
        wishes: Wishes {
            auto_remove: body.auto_remove,
            ..Wishes::default()
        },
    };
    let proposal = NewCredentialProposal {
        preview: body.credential_preview,
        filters: filters(body.filter)?,
        comment: body.comment,
    };
    let what = IssueWhat::Propose(proposal);
    told(
        &call
            .agents()
            .issuing()
            .begin(call.tenant()?, &begin, what)
            .await?,
    )
}

/// No format here begins with a request.
pub async fn send_request_free(_call: OperationCall) -> OperationResult {
    let reason = selfsame_driver::Reason::new("agent-request-first");
    Err(cannot(reason))
}

/// The exchanges that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: RecordsQuery = call.query()?;
    let found = asked.found(call.agents().issuing(), call.tenant()?).await?;
    let results: Vec<Value> = found.into_iter().map(detailed).collect();
    told(&json!({ "results": results }))
}

/// An exchange.
pub async fn show(call: OperationCall) -> OperationResult {
    let id = call.at("cred_ex_id")?;
    let found = call.agents().issuing().one(call.tenant()?, id).await?;
    told(&detailed(found))
}

/// A record with what each format knows of it.
fn detailed(record: Value) -> Value {
    json!({ "cred_ex_record": record, "indy": null, "ld_proof": null })
}

/// Removes an exchange.
pub async fn remove(call: OperationCall) -> OperationResult {
    let id = call.at("cred_ex_id")?;
    call.agents().issuing().remove(call.tenant()?, id).await?;
    done()
}

async fn act(call: &OperationCall, what: IssueWhat) -> OperationResult<Value> {
    let id = call.at("cred_ex_id")?;
    Ok(call
        .agents()
        .issuing()
        .act(call.tenant()?, id, what)
        .await?)
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
    told(&act(&call, IssueWhat::Offer(offer)).await?)
}

/// Requests what was offered.
pub async fn request(call: OperationCall) -> OperationResult {
    told(&act(&call, IssueWhat::Request).await?)
}

#[derive(Deserialize)]
struct IssueBody {
    comment: Option<String>,
}

/// Issues what was requested.
pub async fn issue(call: OperationCall) -> OperationResult {
    let body: IssueBody = call.body()?;
    let what = IssueWhat::Issue {
        comment: body.comment,
    };
    told(&detailed(act(&call, what).await?))
}

#[derive(Deserialize)]
struct StoreBody {
    credential_id: Option<String>,
}

/// Keeps the credential.
pub async fn store(call: OperationCall) -> OperationResult {
    let body: StoreBody = call.body()?;
    let what = IssueWhat::Store {
        credential_id: body.credential_id,
    };
    told(&detailed(act(&call, what).await?))
}

/// Ends an exchange.
pub async fn report(call: OperationCall) -> OperationResult {
    let body: ReportBody = call.body()?;
    act(&call, IssueWhat::Abandon(body.report(ABANDONED))).await?;
    done()
}
