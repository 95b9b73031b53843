//! Presenting proofs (RFC 0454, RFC 0037). The steps of an exchange are the same in both versions; the bodies are not.

pub mod first;

use std::collections::BTreeMap;

use selfsame_agent::present::{
    NamedRequest, NewPresentation, NewProofRequest, ProofWhat, ProvingProtocol,
};
use selfsame_agent::{ExchangeBegin, Exchanges, Wishes};
use selfsame_anoncreds_wallet::ChosenCredentials;
use selfsame_anoncreds_wallet::matching::CredentialsWanted;
use selfsame_crypto::json::{self, JsonError};
use selfsame_driver::Error;
use serde::Deserialize;
use serde_json::{Value, json};

use super::exchange::{ByFormat, ReportBody, acted, found, known, listed, on_connection, removed};
use crate::answer::{OperationError, OperationResult, done, told};
use crate::call::OperationCall;

/// The version of the protocol with bodies by format.
const LATEST: u16 = 2;
/// The code of a problem report.
const ABANDONED: &str = "abandoned";
/// The number of credentials that a search returns if the caller does not say.
const COUNT: usize = 10;

fn exchanges<const MAJOR: u16>(call: &OperationCall) -> Exchanges<'_, ProvingProtocol> {
    call.agents().proving().in_version(MAJOR)
}

/// What begins an exchange: a request, or a proposal.
struct FirstProof {
    connection_id: Option<String>,
    what: ProofWhat,
    wishes: Wishes,
}

impl FirstProof {
    async fn begin<const MAJOR: u16>(self, call: &OperationCall) -> OperationResult {
        let begin = ExchangeBegin {
            connection_id: self.connection_id,
            major: MAJOR,
            wishes: self.wishes,
        };
        let begun = call.agents().proving();
        told(&begun.begin(call.tenant()?, &begin, self.what).await?)
    }
}

#[derive(Deserialize)]
struct RequestBody {
    connection_id: Option<String>,
    presentation_request: ByFormat,
    comment: Option<String>,
    auto_verify: Option<bool>,
    auto_remove: Option<bool>,
}

impl RequestBody {
    fn request(self) -> OperationResult<FirstProof> {
        let asked = asked(self.presentation_request, self.comment)?;
        Ok(FirstProof {
            connection_id: self.connection_id,
            what: ProofWhat::Request(Some(asked)),
            wishes: Wishes {
                auto_verify: self.auto_verify,
                auto_remove: self.auto_remove,
                ..Wishes::default()
            },
        })
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
        preview: None,
    })
}

/// Requests a proof on a connection.
pub async fn send_request(call: OperationCall) -> OperationResult {
    let body: RequestBody = call.body()?;
    on_connection(body.connection_id.as_ref())?;
    body.request()?.begin::<LATEST>(&call).await
}

/// Makes a request that goes with an invitation.
pub async fn create_request(call: OperationCall) -> OperationResult {
    let body: RequestBody = call.body()?;
    let body = RequestBody {
        connection_id: None,
        ..body
    };
    body.request()?.begin::<LATEST>(&call).await
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
    let proposal = FirstProof {
        connection_id: Some(body.connection_id),
        what: ProofWhat::Propose(asked(body.presentation_proposal, body.comment)?),
        wishes: Wishes {
            auto_present: body.auto_present,
            auto_remove: body.auto_remove,
            ..Wishes::default()
        },
    };
    proposal.begin::<LATEST>(&call).await
}

/// The exchanges that fit the query.
pub async fn list<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let results = listed(&call, exchanges::<MAJOR>(&call)).await?;
    told(&json!({ "results": results }))
}

/// An exchange.
pub async fn show<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    told(&found(&call, exchanges::<MAJOR>(&call)).await?)
}

/// Removes an exchange.
pub async fn remove<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    removed(&call, exchanges::<MAJOR>(&call)).await
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
pub async fn credentials<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let asked: CredentialsQuery = call.query()?;
    let extra = extra_queries(asked.extra_query.as_deref())?;
    let record = found(&call, exchanges::<MAJOR>(&call)).await?;
    let (request, referents) = (requested(&record)?, referents(&call));
    let anoncreds = call.agents().anoncreds();
    let start = asked.offset.or(asked.start).unwrap_or(0);
    let count = asked.limit.or(asked.count).unwrap_or(COUNT);
    let wanted = CredentialsWanted {
        referents: &referents,
        extra: &extra,
        most: start.saturating_add(count),
    };
    let found = anoncreds
        .matching(call.tenant()?, &request, &wanted)
        .await?;
    let shown: Vec<_> = found.into_iter().skip(start).collect();
    told(&shown)
}

/// The referents of the request that a call asks about.
fn referents(call: &OperationCall) -> Vec<String> {
    let all = call.all("referent");
    let each = all.iter().flat_map(|some| some.split(','));
    let each = each.map(|one| one.trim().to_owned());
    each.filter(|one| !one.is_empty()).collect()
}

/// A query in WQL for each referent.
fn extra_queries(text: Option<&str>) -> OperationResult<BTreeMap<String, Value>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(BTreeMap::new());
    };
    json::parse_as(text.as_bytes(), &json::Limits::default())
        .map_err(|error: JsonError| OperationError::field("extra_query", &error.to_string()))
}

/// The JSON of what a record's request asks for, in the first format that has it. Version 1 has one format.
fn requested(record: &Value) -> OperationResult<Vec<u8>> {
    let formats = record["by_format"]["pres_request"].as_object();
    let mut requests = formats.into_iter().flat_map(|all| all.values());
    let request = requests.next().unwrap_or(&record["presentation_request"]);
    match request.is_null() {
        true => Err(Error::bad_request("agent-request-absent").into()),
        false => Ok(json::to_bytes(request)),
    }
}

/// A step after which the record is answered with.
async fn stepped<const MAJOR: u16>(call: &OperationCall, what: ProofWhat) -> OperationResult {
    told(&acted(call, exchanges::<MAJOR>(call), what).await?)
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
    stepped::<LATEST>(&call, ProofWhat::Present(presentation)).await
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
    stepped::<LATEST>(&call, ProofWhat::Request(request)).await
}

/// Verifies what was presented.
pub async fn verify<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    stepped::<MAJOR>(&call, ProofWhat::Verify).await
}

/// Ends an exchange.
pub async fn report<const MAJOR: u16>(call: OperationCall) -> OperationResult {
    let body: ReportBody = call.body()?;
    let what = ProofWhat::Abandon(body.report(ABANDONED));
    acted(&call, exchanges::<MAJOR>(&call), what).await?;
    done()
}
