//! `/api/types`: credential types. docs/credential-types.md describes their files.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use selfsame_catalogue::{Language, tell};
use selfsame_driver::Reasons as _;
use selfsame_driver::paging::{Listing, Paging, part};
use selfsame_types::import::{ImportedType, import};
use selfsame_types::{TypeDefinition, TypeSummary, check};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{done, json, told};
use crate::error::Handled;
use crate::extract::{Json, Path, Query, Raw};
use crate::here::Here;

/// How an imported type is named.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportName {
    /// The id of the type; by default it is made from the name.
    id: Option<String>,
}

/// All types, drafts included, without their definitions.
#[utoipa::path(get, path = "/api/types", tag = "types", operation_id = "types_list", params(super::Page), responses((status = 200, body = Listing<TypeSummary>)))]
pub async fn list(server: Here, Query(paging): Query<Paging>) -> Handled {
    let types = server.issuer()?.types().list().await?;
    json(&part(types, &paging, |one| one.id.clone())?)
}

/// Creates the draft of a type.
#[utoipa::path(post, path = "/api/types", tag = "types", operation_id = "types_create", request_body = TypeDefinition, responses((status = 201, body = TypeSummary)))]
pub async fn create(server: Here, Json(new): Json<TypeDefinition>) -> Handled {
    let mut made = server.issuer()?.types().create(&new).await?;
    for reason in made.reasons() {
        tell(Language::English, reason);
    }
    Ok((StatusCode::CREATED, axum::Json(made)).into_response())
}

/// One type with its definition and its draft.
#[utoipa::path(get, path = "/api/types/{id}", tag = "types", operation_id = "types_show", params(("id" = String, Path)), responses((status = 200, body = TypeSummary)))]
pub async fn show(server: Here, Path(id): Path<String>) -> Handled {
    told(server.app().type_shown(server.issuer()?, &id).await?)
}

/// Replaces the draft of a type, or begins one for its next version.
#[utoipa::path(put, path = "/api/types/{id}", tag = "types", operation_id = "types_replace", params(("id" = String, Path)), request_body = TypeDefinition, responses((status = 200, body = TypeSummary)))]
pub async fn replace(
    server: Here,
    Path(id): Path<String>,
    Json(new): Json<TypeDefinition>,
) -> Handled {
    told(server.issuer()?.types().replace(&id, &new).await?)
}

/// Deletes the draft of a type. Published versions stay.
#[utoipa::path(delete, path = "/api/types/{id}", tag = "types", operation_id = "types_delete_draft", params(("id" = String, Path)), responses((status = 204)))]
pub async fn delete_draft(server: Here, Path(id): Path<String>) -> Handled {
    server.issuer()?.types().delete_draft(&id).await?;
    done()
}

/// Publishes the draft of a type as its next version, which then does not change. Without a draft, tries again what
/// failed of the format AnonCreds.
#[utoipa::path(post, path = "/api/types/{id}/publish", tag = "types", operation_id = "types_publish", params(("id" = String, Path)), responses((status = 200, body = TypeSummary)))]
pub async fn publish(server: Here, Path(id): Path<String>) -> Handled {
    told(server.app().publish_type(server.issuer()?, &id).await?)
}

/// Retires a type: nothing more is issued of it, and what was issued stays verifiable.
#[utoipa::path(post, path = "/api/types/{id}/retire", tag = "types", operation_id = "types_retire", params(("id" = String, Path)), responses((status = 200, body = TypeSummary)))]
pub async fn retire(server: Here, Path(id): Path<String>) -> Handled {
    told(server.issuer()?.types().retire(&id).await?)
}

/// Makes a definition of SD-JWT VC type metadata, a JSON Schema or an OCA bundle. Nothing is stored.
#[utoipa::path(post, path = "/api/types/import", tag = "types", operation_id = "types_import", params(ImportName), request_body = Object, responses((status = 200, body = ImportedType)))]
pub async fn import_type(Query(name): Query<ImportName>, Raw(body): Raw) -> Handled<Response> {
    let imported = import(&body, name.id.as_deref())?;
    told(ImportedType {
        refusals: check(&imported.definition).refusals,
        definition: imported.definition,
        left_out: imported.left_out,
    })
}
