//! Revocation registries that a controller publishes itself, in the words of AnonCreds.

use selfsame_anoncreds_wallet::revocation::{BegunRegistry, NewRevocationRegistry};
use selfsame_driver::Error;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::OperationResult;
use crate::call::OperationCall;
use crate::operations::schemas::is_own;
use crate::operations::transactions::{AnonCredsObject, EndorserOptions, requested_anoncreds};

#[derive(Deserialize)]
struct RegistryBody {
    revocation_registry_definition: AskedRegistry,
    #[serde(default)]
    options: EndorserOptions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AskedRegistry {
    issuer_id: Option<String>,
    cred_def_id: String,
    max_cred_num: u32,
}

/// Publishes a registry with its first list. Its tag is the number that it has among those of its definition.
pub async fn create(call: OperationCall) -> OperationResult {
    let RegistryBody {
        revocation_registry_definition: asked,
        options,
    } = call.body()?;
    let author = call.app().agent_author(call.tenant()?).await?;
    is_own(asked.issuer_id.as_deref(), author.did.as_str())?;
    let new = NewRevocationRegistry {
        cred_def_id: &asked.cred_def_id,
        size: asked.max_cred_num,
        endorser: options.endorser(&call, &author).await?,
    };
    let begun = call.agents().anoncreds();
    let begun = begun.begin_registry(&author, new).await?;
    requested_anoncreds(&call, shown(&begun)?, begun.into()).await
}

fn shown(begun: &BegunRegistry) -> OperationResult<AnonCredsObject> {
    let definition: Value = serde_json::from_str(&begun.definition).map_err(Error::damaged)?;
    Ok(AnonCredsObject {
        kind: "revocation_registry_definition",
        members: json!({
            "revocation_registry_definition_id": begun.registry.rev_reg_id,
            "revocation_registry_definition": definition,
        }),
    })
}
