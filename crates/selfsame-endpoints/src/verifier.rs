//! OpenID4VP 1.0: the request object, and the wallet's response.

use axum::response::IntoResponse as _;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Path, Raw, is_kind};
use selfsame_openid::OrganisationRoles;

use crate::instance::RolesHere;

const REQUEST_OBJECT: &str = "application/oauth-authz-req+jwt";
const FORM: &str = "application/x-www-form-urlencoded";

/// The request object (§5.7).
pub async fn request(RolesHere(roles): RolesHere, Path(id): Path<String>) -> Handled {
    object(&roles, &id, None).await
}

/// The request object for a wallet that states its capabilities (§5.10).
pub async fn posted(
    RolesHere(roles): RolesHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Handled {
    needs_form(&headers)?;
    object(&roles, &id, Some(&body)).await
}

/// The wallet's response (§8.2).
pub async fn response(
    RolesHere(roles): RolesHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Handled {
    needs_form(&headers)?;
    Ok(axum::Json(roles.verifier()?.response(&id, &body).await?).into_response())
}

async fn object(roles: &OrganisationRoles, id: &str, posted: Option<&[u8]>) -> Handled {
    let object = roles.verifier()?.request_object(id, posted).await?;
    Ok(([(CONTENT_TYPE, REQUEST_OBJECT)], object).into_response())
}

fn needs_form(headers: &HeaderMap) -> Result<(), Problem> {
    if is_kind(headers, FORM) {
        Ok(())
    } else {
        Err(Problem::bad_request("body-not-form"))
    }
}
