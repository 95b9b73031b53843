//! `/api/export`: an organisation as lines of JSON.

use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse as _;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use selfsame_app::ExportWish;
use selfsame_core::organisation::OrganisationName;
use serde::Deserialize;
use utoipa::IntoParams;

use super::audit::NDJSON;
use crate::error::Handled;
use crate::extract::{Path, Query, Working};
use crate::server::Server;

/// Where an export goes on.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportAfter {
    /// Asks for one part alone: empty for the first, else the `after` of the part before, whose last line has the kind
    /// `more`.
    after: Option<String>,
}

/// Exports an organisation, as far as your rights in it allow to read it. Lines of JSON; the last one has the kind `end`.
#[utoipa::path(get, path = "/api/organisations/{name}/export", operation_id = "organisations_export", tag = "organisations", params(("name" = String, Path), ExportAfter), responses((status = 200, content_type = "application/x-ndjson", body = String)))]
pub async fn named(
    State(server): State<Server>,
    work: Working,
    Path(name): Path<String>,
    Query(from): Query<ExportAfter>,
) -> Handled {
    let work = work.of(OrganisationName::parse(&name)?);
    own(State(server), work, Query(from)).await
}

/// Exports the organisation whose address is called, as `/api/organisations/{name}/export` does.
#[utoipa::path(get, path = "/api/export", operation_id = "organisations_export_own", tag = "organisations", params(ExportAfter), responses((status = 200, content_type = "application/x-ndjson", body = String)))]
pub async fn own(
    State(server): State<Server>,
    work: Working,
    Query(from): Query<ExportAfter>,
) -> Handled {
    let name = format!("attachment; filename=\"{}.ndjson\"", work.organisation);
    let wish = ExportWish {
        rights: work.authority.rights(&work.organisation),
        organisation: work.organisation,
    };
    let exported = server.shared_app().exported(wish, from.after.as_deref());
    let body = Body::from_stream(exported.await?);
    let headers = [
        (CONTENT_TYPE, NDJSON.to_owned()),
        (CONTENT_DISPOSITION, name),
    ];
    Ok((headers, body).into_response())
}
