//! OpenID4VP 1.0: the request object, and the wallet's response.

use axum::response::IntoResponse as _;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::error::{Handled, Problem};
use crate::extract::{Path, Raw, is_kind};
use crate::here::Here;

const REQUEST_OBJECT: &str = "application/oauth-authz-req+jwt";
const FORM: &str = "application/x-www-form-urlencoded";

/// The request object (§5.7).
pub async fn request(server: Here, Path(id): Path<String>) -> Handled {
    object(&server, &id, None).await
}

/// The request object for a wallet that states its capabilities (§5.10).
pub async fn posted(
    server: Here,
    Path(id): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Handled {
    needs_form(&headers)?;
    object(&server, &id, Some(&body)).await
}

/// The wallet's response (§8.2).
pub async fn response(
    server: Here,
    Path(id): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Handled {
    needs_form(&headers)?;
    Ok(axum::Json(server.verifier()?.response(&id, &body).await?).into_response())
}

async fn object(server: &Here, id: &str, posted: Option<&[u8]>) -> Handled {
    let object = server.verifier()?.request_object(id, posted).await?;
    Ok(([(CONTENT_TYPE, REQUEST_OBJECT)], object).into_response())
}

fn needs_form(headers: &HeaderMap) -> Result<(), Problem> {
    if is_kind(headers, FORM) {
        Ok(())
    } else {
        Err(Problem::bad_request("body-not-form"))
    }
}
