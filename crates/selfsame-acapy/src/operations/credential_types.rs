//! Credentials of the organisation's types, which OpenID4VCI issues too: the type names the claims, and the agent makes the
//! attributes of them. These operations are this agent's own; ACA-Py has none like them.

use selfsame_agent::issue::NewCredentialOffer;
use selfsame_app::agent::AgentType;
use selfsame_aries::exchange::{Preview, PreviewAttribute};
use selfsame_aries::formats::dif;
use selfsame_types::project::TypeAttribute;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::exchange::{ByFormat, filters};
use super::issuing::{FirstOffer, LATEST};
use crate::answer::{OperationResult, told};
use crate::call::OperationCall;

/// The name under which the agent knows AnonCreds.
const ANONCREDS: &str = "anoncreds";

async fn named(call: &OperationCall) -> OperationResult<AgentType> {
    let issuer = call.app().agent_issuer(call.tenant()?).await?;
    Ok(call.app().agent_type(&issuer, call.at("type_id")?).await?)
}

/// What the registry has of a type, for those who ask for proofs of it.
pub async fn show(call: OperationCall) -> OperationResult {
    let one = named(&call).await?;
    told(&json!({
        "type_id": one.definition.id,
        "version": one.version,
        "schema_id": one.objects.schema_id,
        "cred_def_id": one.objects.cred_def_id,
        "attributes": selfsame_types::project::attributes(&one.definition),
    }))
}

#[derive(Deserialize)]
struct TypedBody {
    connection_id: String,
    #[serde(default)]
    claims: Map<String, Value>,
    #[serde(default)]
    examples: bool,
    /// The credential's format; AnonCreds without it.
    format: Option<String>,
    comment: Option<String>,
    auto_remove: Option<bool>,
}

impl TypedBody {
    /// What is offered: attributes of AnonCreds, or a manifest of a credential that is a JWT.
    async fn offered(&self, call: &OperationCall) -> OperationResult<NewCredentialOffer> {
        if let Some(format) = self.format.as_ref().filter(|name| *name != ANONCREDS) {
            let terms = json!({
                "credential": {"schema": call.at("type_id")?},
                "format": format, "claims": self.claims, "examples": self.examples,
            });
            return Ok(NewCredentialOffer {
                filters: filters(ByFormat::from([(dif::FORMAT.name.to_owned(), terms)]))?,
                ..NewCredentialOffer::default()
            });
        }
        let one = named(call).await?;
        let attributes = one.attributes(&self.claims, self.examples)?;
        let of = json!({ "cred_def_id": one.objects.cred_def_id });
        Ok(NewCredentialOffer {
            preview: Preview {
                attributes: attributes.into_iter().map(attribute).collect(),
            },
            filters: filters(ByFormat::from([(ANONCREDS.to_owned(), of)]))?,
            ..NewCredentialOffer::default()
        })
    }
}

/// Offers a credential of a type on a connection, and issues it when it is requested.
pub async fn send(call: OperationCall) -> OperationResult {
    let body: TypedBody = call.body()?;
    let offered = body.offered(&call).await?;
    let offer = FirstOffer {
        connection_id: Some(body.connection_id),
        offer: NewCredentialOffer {
            comment: body.comment,
            ..offered
        },
        auto_issue: Some(true),
        auto_remove: body.auto_remove,
    };
    offer.begin::<LATEST>(&call).await
}

fn attribute(value: TypeAttribute) -> PreviewAttribute {
    PreviewAttribute {
        name: value.name,
        mime_type: None,
        value: value.value,
    }
}
