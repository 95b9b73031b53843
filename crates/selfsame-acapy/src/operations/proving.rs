//! Presenting proofs (RFC 0454).

use std::collections::BTreeMap;

use selfsame_agent::{
    ExchangeBegin, NamedRequest, NewPresentation, NewProofRequest, ProofWhat, Wishes,
};
use selfsame_anoncreds_wallet::ChosenCredentials;
use selfsame_crypto::json::{self, JsonError};
use selfsame_driver::Error;
use serde::Deserialize;
use serde_json::{Value, json};

use super::exchange::{ByFormat, RecordsQuery, ReportBody, known};
use crate::answer::{OperationError, OperationResult, done, told};
use crate::call::OperationCall;

/// The version of the protocol.
const MAJOR: u16 = 2;
/// The code of a problem report.
const ABANDONED: &str = "abandoned";
/// The number of credentials that a search returns if the caller does not say.
const COUNT: usize = 10;

#[derive(Deserialize)]
struct RequestBody {
    connection_id: Option<String>,
    presentation_request: ByFormat,
    comment: Option<String>,
    auto_verify: Option<bool>,
    auto_remove: Option<bool>,
}

impl RequestBody {
    async fn begin(self, call: &OperationCall) -> OperationResult {
        let begin = ExchangeBegin {
            connection_id: self.connection_id,
            major: MAJOR,
            wishes: Wishes {
                auto_verify: self.auto_verify,
                auto_remove: self.auto_remove,
                ..Wishes::default()
            },
        };
        let what = ProofWhat::Request(Some(asked(self.presentation_request, self.comment)?));
        told(
            &call
                .agents()
                .proving()
                .begin(call.tenant()?, &begin, what)
                .await?,
        )
    }
}

fn asked(formats: ByFormat, comment: Option<String>) -> OperationResult<NewProofRequest> {
    let named = known(formats)?.into_iter();
    let requests = named.map(|one| NamedRequest {
        format: one.format.name.to_owned(),
        request: one.value,
    });
    Ok(NewProofRequest {
        requests: requests.collect(),
        comment,
    })
}

/// Requests a proof on a connection.
pub async fn send_request(call: OperationCall) -> OperationResult {
    let body: RequestBody = call.body()?;
    if body.connection_id.is_none() {
        let what = "Missing data for required field.";
        return Err(OperationError::field("connection_id", what));
    }
    body.begin(&call).await
}

/// Makes a request that goes with an invitation.
pub async fn create_request(call: OperationCall) -> OperationResult {
    let body: RequestBody = call.body()?;
    let body = RequestBody {
        connection_id: None,
        ..body
    };
    body.begin(&call).await
}

#[derive(Deserialize)]
struct ProposalBody {
    connection_id: String,
    presentation_proposal: ByFormat,
    comment: Option<String>,
    auto_present: Option<bool>,
    auto_remove: Option<bool>,
}

/// Proposes to its verifier what to prove.
pub async fn send_proposal(call: OperationCall) -> OperationResult {
    let body: ProposalBody = call.body()?;
    let begin = ExchangeBegin {
        connection_id: Some(body.connection_id),
        major: MAJOR,
        wishes: Wishes {
            auto_present: body.auto_present,
            auto_remove: body.auto_remove,
            ..Wishes::default()
        },
    };
    let what = ProofWhat::Propose(asked(body.presentation_proposal, body.comment)?);
    told(
        &call
            .agents()
            .proving()
            .begin(call.tenant()?, &begin, what)
            .await?,
    )
}

/// The exchanges that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: RecordsQuery = call.query()?;
    let results = asked.found(call.agents().proving(), call.tenant()?).await?;
    told(&json!({ "results": results }))
}

/// An exchange.
pub async fn show(call: OperationCall) -> OperationResult {
    let id = call.at("pres_ex_id")?;
    told(&call.agents().proving().one(call.tenant()?, id).await?)
}

/// Removes an exchange.
pub async fn remove(call: OperationCall) -> OperationResult {
    let id = call.at("pres_ex_id")?;
    call.agents().proving().remove(call.tenant()?, id).await?;
    done()
}

#[derive(Deserialize)]
struct CredentialsQuery {
    count: Option<usize>,
    limit: Option<usize>,
    start: Option<usize>,
    offset: Option<usize>,
    extra_query: Option<String>,
}

/// The credentials that can answer a request.
pub async fn credentials(call: OperationCall) -> OperationResult {
    let asked: CredentialsQuery = call.query()?;
    let referents: Vec<String> = call
        .all("referent")
        .iter()
        .flat_map(|some| some.split(','))
        .map(|one| one.trim().to_owned())
        .filter(|one| !one.is_empty())
        .collect();
    let extra = extra_queries(asked.extra_query.as_deref())?;
    let record = {
        let id = call.at("pres_ex_id")?;
        call.agents().proving().one(call.tenant()?, id).await?
    };
    let request = requested(&record)?;
    let anoncreds = call.agents().anoncreds();
    let found = anoncreds
        .matching(call.tenant()?, &request, &referents, &extra)
        .await?;
    let start = asked.offset.or(asked.start).unwrap_or(0);
    let count = asked.limit.or(asked.count).unwrap_or(COUNT);
    let shown: Vec<_> = found.into_iter().skip(start).take(count).collect();
    told(&shown)
}

/// A query in WQL for each referent.
fn extra_queries(text: Option<&str>) -> OperationResult<BTreeMap<String, Value>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(BTreeMap::new());
    };
    json::parse_as(text.as_bytes(), &json::Limits::default())
        .map_err(|error: JsonError| OperationError::field("extra_query", &error.to_string()))
}

/// The JSON of what a record's request asks for, in the first format that has it.
fn requested(record: &Value) -> OperationResult<Vec<u8>> {
    let formats = &record["by_format"]["pres_request"];
    let mut requests = formats.as_object().into_iter().flat_map(|all| all.values());
    let request = requests.next();
    let absent = || Error::bad_request("agent-request-absent");
    Ok(json::to_bytes(request.ok_or_else(absent)?))
}

async fn act(call: &OperationCall, what: ProofWhat) -> OperationResult<Value> {
    let id = call.at("pres_ex_id")?;
    Ok(call
        .agents()
        .proving()
        .act(call.tenant()?, id, what)
        .await?)
}

#[derive(Deserialize)]
struct PresentationBody {
    indy: Option<ChosenCredentials>,
    anoncreds: Option<ChosenCredentials>,
    comment: Option<String>,
}

/// Presents a proof with the chosen credentials.
pub async fn present(call: OperationCall) -> OperationResult {
    let body: PresentationBody = call.body()?;
    let named = |name: &str, chosen| (Some(name.to_owned()), Some(chosen));
    let (format, chosen) = match (body.indy, body.anoncreds) {
        (Some(chosen), _) => named("indy", chosen),
        (None, Some(chosen)) => named("anoncreds", chosen),
        (None, None) => (None, None),
    };
    let presentation = NewPresentation {
        format,
        chosen,
        comment: body.comment,
    };
    told(&act(&call, ProofWhat::Present(presentation)).await?)
}

#[derive(Deserialize)]
struct AnswerBody {
    presentation_request: Option<ByFormat>,
    comment: Option<String>,
}

/// Answers a proposal with a request.
pub async fn request(call: OperationCall) -> OperationResult {
    let body: AnswerBody = call.body()?;
    let request = match body.presentation_request {
        Some(formats) => Some(asked(formats, body.comment)?),
        None => None,
    };
    told(&act(&call, ProofWhat::Request(request)).await?)
}

/// Verifies what was presented.
pub async fn verify(call: OperationCall) -> OperationResult {
    told(&act(&call, ProofWhat::Verify).await?)
}

/// Ends an exchange.
pub async fn report(call: OperationCall) -> OperationResult {
    let body: ReportBody = call.body()?;
    act(&call, ProofWhat::Abandon(body.report(ABANDONED))).await?;
    done()
}
