//! What relying parties call: tokens, userinfo, metadata and keys.

use axum::response::{IntoResponse as _, Response};
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use selfsame_driver::Error;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Raw, bearer};
use selfsame_http::response::document;
use selfsame_sign_in::CalledEndpoint;
use selfsame_sign_in::access::{PresentedToken, Userinfo};
use serde_json::{Map, Value, json};

use crate::door::{EsignetDoor, EsignetHere};

const JSON: &str = "application/json";
/// The token endpoint, below the base.
const TOKEN: &str = "oauth/v2/token";
/// The token endpoint of the first version.
const TOKEN_V1: &str = "oauth/token";
const USERINFO: &str = "oidc/userinfo";

/// The token endpoint.
pub async fn token(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    here.redeem(TOKEN, &headers, &body).await
}

/// The token endpoint of the first version, which is another audience of assertions.
pub async fn token_v1(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    here.redeem(TOKEN_V1, &headers, &body).await
}

/// The claims of the person.
pub async fn userinfo(here: EsignetHere, headers: HeaderMap) -> Response {
    let Some(value) = headers.get(AUTHORIZATION) else {
        return unauthorized("missing_header");
    };
    let text = value.to_str().unwrap_or_default();
    let dpop = text.strip_prefix("DPoP ");
    let token = dpop.or_else(|| bearer(value));
    let url = here.door.settings.at(USERINFO);
    let (Some(token), Some(url)) = (token, url) else {
        return unauthorized("invalid_token");
    };
    let presented = PresentedToken {
        url: &url,
        method: "GET",
        is_dpop: dpop.is_some(),
        token,
        proof: header(&headers, "dpop"),
    };
    match here.door.sign_ins.userinfo_as_signed(&presented).await {
        Ok(claims) => shown(claims),
        Err(error) => unauthorized(error.code.unwrap_or("unknown_error")),
    }
}

/// The metadata, with the addresses of this interface.
pub async fn metadata(here: EsignetHere) -> Handled {
    let door = &here.door;
    let known = serde_json::to_value(door.sign_ins.metadata()?).map_err(Error::internal)?;
    let Value::Object(mut members) = known else {
        return Err(Error::internal("the metadata are no object").into());
    };
    for (name, path) in [
        ("token_endpoint", TOKEN),
        ("userinfo_endpoint", USERINFO),
        ("jwks_uri", "oauth/.well-known/jwks.json"),
    ] {
        if let Some(url) = door.settings.at(path) {
            members.insert(name.to_owned(), url.as_str().into());
        }
    }
    let displays = json!(["page", "popup", "touch", "wap"]);
    members.insert("display_values_supported".to_owned(), displays);
    document(JSON, &Value::Object(members))
}

/// The keys of the provider and of the identity system that signs claims.
pub async fn keys(here: EsignetHere) -> Handled {
    let door = &here.door;
    let keys = door.sign_ins.keys().await?;
    let mut keys: Vec<Value> = keys
        .keys()
        .iter()
        .map(selfsame_crypto::Jwk::to_value)
        .collect();
    if let Some(mock) = &door.mock {
        let key = mock.public_key().await?;
        keys.push(key.to_value());
    }
    document(JSON, &json!({"keys": keys}))
}

impl EsignetHere {
    async fn redeem(&self, path: &str, headers: &HeaderMap, body: &[u8]) -> Handled {
        let EsignetDoor {
            sign_ins, settings, ..
        } = &self.door;
        let url = settings.at(path);
        let url = url.ok_or_else(|| Error::internal("the base is no base"))?;
        let called = CalledEndpoint {
            url: &url,
            method: "POST",
            basic: header(headers, AUTHORIZATION.as_str())
                .and_then(|text| text.strip_prefix("Basic ")),
            proof: header(headers, "dpop"),
            attestation: None,
            body,
        };
        let granted = sign_ins
            .counting(self.from, sign_ins.token(&called))
            .await?;
        let no_store = [(CACHE_CONTROL, "no-store")];
        Ok((no_store, axum::Json(granted)).into_response())
    }
}

fn shown(claims: Userinfo) -> Response {
    let no_store = (CACHE_CONTROL, "no-store");
    match claims {
        Userinfo::Jwt(jwt) => {
            let about = [(CONTENT_TYPE, "application/jwt"), no_store];
            (about, jwt).into_response()
        }
        Userinfo::Json(claims) => ([no_store], axum::Json::<Map<_, _>>(claims)).into_response(),
    }
}

fn unauthorized(code: &str) -> Response {
    let challenge = format!("error=\"{code}\"");
    tracing::info!(code, "userinfo was refused");
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
