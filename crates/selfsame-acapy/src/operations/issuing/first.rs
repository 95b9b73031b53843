//! The bodies of version 1.0 (RFC 0036), whose only format is Indy's.

use selfsame_agent::issue::{IssueWhat, NewCredentialOffer, NewCredentialProposal};
use selfsame_aries::exchange::Preview;
use selfsame_aries::formats::{CredentialFilter, FIRST};
use serde::Deserialize;

use super::{FirstOffer, FirstProposal, NamedFilter, VersionedOffer, stepped};
use crate::answer::{OperationError, OperationResult};
use crate::call::OperationCall;

/// The version of the protocol.
const MAJOR: u16 = 1;

/// Which credential definition is meant.
#[derive(Deserialize)]
struct DefinitionBody {
    cred_def_id: Option<String>,
    issuer_did: Option<String>,
    schema_id: Option<String>,
    schema_issuer_did: Option<String>,
    schema_name: Option<String>,
    schema_version: Option<String>,
}

impl DefinitionBody {
    fn filters(self) -> Vec<NamedFilter> {
        let filter = CredentialFilter {
            cred_def_id: self.cred_def_id,
            issuer: self.issuer_did,
            schema_id: self.schema_id,
            schema_issuer: self.schema_issuer_did,
            schema_name: self.schema_name,
            schema_version: self.schema_version,
            terms: None,
        };
        let format = FIRST.name.to_owned();
        vec![NamedFilter { format, filter }]
    }
}

/// An offer, an issuing or a proposal that begins. Offers call the attributes a preview, the others a proposal.
#[derive(Deserialize)]
struct FirstBody {
    connection_id: Option<String>,
    #[serde(flatten)]
    definition: DefinitionBody,
    #[serde(alias = "credential_proposal")]
    credential_preview: Option<Preview>,
    comment: Option<String>,
    auto_issue: Option<bool>,
    auto_remove: Option<bool>,
}

impl VersionedOffer for FirstBody {
    fn connection_id(&mut self) -> &mut Option<String> {
        &mut self.connection_id
    }

    fn offer(self) -> OperationResult<FirstOffer> {
        let missing = || OperationError::missing("credential_preview");
        Ok(FirstOffer {
            connection_id: self.connection_id,
            offer: NewCredentialOffer {
                preview: self.credential_preview.ok_or_else(missing)?,
                filters: self.definition.filters(),
                comment: self.comment,
                replacement_id: None,
            },
            auto_issue: self.auto_issue,
            auto_remove: self.auto_remove,
        })
    }
}

/// Offers a credential on a connection, and issues it when it is requested.
pub async fn send(call: OperationCall) -> OperationResult {
    let offer = call.body::<FirstBody>()?.sent()?.issued();
    offer.begin::<MAJOR>(&call).await
}

/// Offers a credential on a connection.
pub async fn send_offer(call: OperationCall) -> OperationResult {
    let offer = call.body::<FirstBody>()?.sent()?;
    offer.begin::<MAJOR>(&call).await
}

/// Makes an offer that goes with an invitation, and issues when it is requested.
pub async fn create(call: OperationCall) -> OperationResult {
    let offer = call.body::<FirstBody>()?.created()?.issued();
    offer.begin::<MAJOR>(&call).await
}

/// Makes an offer that goes with an invitation.
pub async fn create_offer(call: OperationCall) -> OperationResult {
    let offer = call.body::<FirstBody>()?.created()?;
    offer.begin::<MAJOR>(&call).await
}

/// Proposes a credential to its issuer.
pub async fn send_proposal(call: OperationCall) -> OperationResult {
    let body: FirstBody = call.body()?;
    let missing = || OperationError::missing("connection_id");
    let proposal = FirstProposal {
        connection_id: body.connection_id.ok_or_else(missing)?,
        proposal: NewCredentialProposal {
            preview: body.credential_preview,
            filters: body.definition.filters(),
            comment: body.comment,
        },
        auto_remove: body.auto_remove,
    };
    proposal.begin::<MAJOR>(&call).await
}

#[derive(Deserialize)]
struct CounterBody {
    counter_proposal: Option<FirstBody>,
}

/// Answers a proposal with an offer.
pub async fn offer(call: OperationCall) -> OperationResult {
    let body: CounterBody = call.body()?;
    let counter = body.counter_proposal.map(FirstBody::created).transpose()?;
    let what = IssueWhat::Offer(counter.map(|counter| counter.offer));
    stepped::<MAJOR>(&call, what).await
}
