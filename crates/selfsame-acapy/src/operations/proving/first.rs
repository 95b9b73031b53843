//! The bodies of version 1.0 (RFC 0037), whose only format is Indy's.

use selfsame_agent::Wishes;
use selfsame_agent::present::{NamedRequest, NewPresentation, NewProofRequest, ProofWhat};
use selfsame_anoncreds_wallet::ChosenCredentials;
use selfsame_aries::formats::FIRST;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{FirstProof, on_connection, stepped};
use crate::answer::OperationResult;
use crate::call::OperationCall;

/// The version of the protocol.
const MAJOR: u16 = 1;

#[derive(Deserialize)]
struct FirstRequestBody {
    connection_id: Option<String>,
    proof_request: Value,
    comment: Option<String>,
    auto_verify: Option<bool>,
    auto_remove: Option<bool>,
}

impl FirstRequestBody {
    fn request(self) -> FirstProof {
        let request = NamedRequest {
            format: FIRST.name.to_owned(),
            request: self.proof_request,
        };
        let asked = NewProofRequest {
            requests: vec![request],
            comment: self.comment,
            preview: None,
        };
        FirstProof {
            connection_id: self.connection_id,
            what: ProofWhat::Request(Some(asked)),
            wishes: Wishes {
                auto_verify: self.auto_verify,
                auto_remove: self.auto_remove,
                ..Wishes::default()
            },
        }
    }
}

/// Requests a proof on a connection.
pub async fn send_request(call: OperationCall) -> OperationResult {
    let body: FirstRequestBody = call.body()?;
    on_connection(body.connection_id.as_ref())?;
    body.request().begin::<MAJOR>(&call).await
}

/// Makes a request that goes with an invitation.
pub async fn create_request(call: OperationCall) -> OperationResult {
    let body: FirstRequestBody = call.body()?;
    let body = FirstRequestBody {
        connection_id: None,
        ..body
    };
    body.request().begin::<MAJOR>(&call).await
}

#[derive(Deserialize)]
struct FirstProposalBody {
    connection_id: String,
    presentation_proposal: Map<String, Value>,
    comment: Option<String>,
    auto_present: Option<bool>,
    auto_remove: Option<bool>,
}

/// Proposes to its verifier what to prove.
pub async fn send_proposal(call: OperationCall) -> OperationResult {
    let body: FirstProposalBody = call.body()?;
    let asked = NewProofRequest {
        requests: Vec::new(),
        comment: body.comment,
        preview: Some(body.presentation_proposal),
    };
    let proposal = FirstProof {
        connection_id: Some(body.connection_id),
        what: ProofWhat::Propose(asked),
        wishes: Wishes {
            auto_present: body.auto_present,
            auto_remove: body.auto_remove,
            ..Wishes::default()
        },
    };
    proposal.begin::<MAJOR>(&call).await
}

/// Presents a proof with the chosen credentials.
pub async fn present(call: OperationCall) -> OperationResult {
    let chosen: ChosenCredentials = call.body()?;
    let presentation = NewPresentation {
        format: Some(FIRST.name.to_owned()),
        chosen: Some(chosen),
        comment: None,
    };
    stepped::<MAJOR>(&call, ProofWhat::Present(presentation)).await
}

/// Answers a proposal with a request for what it proposes.
pub async fn request(call: OperationCall) -> OperationResult {
    stepped::<MAJOR>(&call, ProofWhat::Request(None)).await
}
