//! The protocols' endpoints on an instance, as a minimal server.

use std::collections::HashMap;

use bytes::Bytes;
use http_body_util::Full;
use selfsame_app::App;
use selfsame_crypto::encoding::base64url_decode;
use selfsame_did::{Did, Options};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_ledger::parse_transaction;
use selfsame_openid::issuer::TokenHeaders;
use selfsame_openid::issuer::lists::ListFace;
use selfsame_openid4vc::wire::credential::CredentialAnswer;
use selfsame_openid4vc::wire::encryption::MEDIA_TYPE;
use selfsame_sign_in::access::PresentedToken;
use serde::Serialize;

type Reply = http::Response<Full<Bytes>>;

const JSON: &str = "application/json";

pub async fn answer(app: &App, head: &http::request::Parts, body: &[u8]) -> Reply {
    let path = head.uri.path().trim_start_matches('/');
    let answered = match head.method {
        http::Method::GET => got(app, path, head.uri.query().unwrap_or_default()).await,
        _ => posted(app, head, body).await,
    };
    answered.unwrap_or_else(|error| refused(&error))
}

async fn got(app: &App, path: &str, query: &str) -> Result<Reply> {
    let segments: Vec<&str> = path.split('/').collect();
    match segments.as_slice() {
        [".well-known", "openid-credential-issuer", "issuer"] => {
            let published = app.main().issuer()?.published().await?;
            Ok(reply(JSON, published.issuer.to_vec()))
        }
        [".well-known", "oauth-authorization-server", "issuer"] => {
            let published = app.main().issuer()?.published().await?;
            Ok(reply(JSON, published.server.to_vec()))
        }
        ["registry", "genesis"] => Ok(reply("application/cbor", app.registry()?.genesis().await?)),
        ["registry", "read"] => {
            let asked = url::form_urlencoded::parse(query.as_bytes());
            let asked: HashMap<_, _> = asked.collect();
            let key = base64url_decode(&asked["key"]).unwrap();
            let trusted = asked["trusted_height"].parse().unwrap();
            let bundle = app.registry()?.read(&key, trusted).await?;
            Ok(reply("application/cbor", bundle.to_bytes()))
        }
        ["registry", "reads"] => {
            let asked = url::form_urlencoded::parse(query.as_bytes());
            let asked: HashMap<_, _> = asked.collect();
            let key = base64url_decode(&asked["key"]).unwrap();
            let trusted = asked["trusted_height"].parse().unwrap();
            let bundle = app.registry()?.reads(&key, trusted).await?;
            Ok(reply("application/cbor", bundle.to_bytes()))
        }
        ["registry", "log"] => {
            let asked = url::form_urlencoded::parse(query.as_bytes());
            let asked: HashMap<_, _> = asked.collect();
            let numbers = asked["numbers"].split(',').map(str::parse);
            let numbers: Vec<u64> = numbers.collect::<std::result::Result<_, _>>().unwrap();
            let trusted = asked["trusted_height"].parse().unwrap();
            let proven = app.registry()?.proven(&numbers, trusted).await?;
            Ok(reply("application/cbor", proven.to_bytes()))
        }
        ["1.0", "identifiers", asked] => {
            let resolution = app.resolve(&did(asked), &Options::default()).await;
            Ok(reply(
                "application/did-resolution",
                serde_json::to_vec(&*resolution).unwrap(),
            ))
        }
        ["issuer", "did.json"] => json(&app.main().issuer()?.identity().document()?),
        ["dids", _, "did.json"] => {
            let path = path.trim_end_matches("/did.json");
            json(&app.dids().document(path).await?)
        }
        ["status", list, face @ ..] => {
            let face = ListFace::parse(face.first().copied()).unwrap();
            let lists = app.main().issuer()?.lists();
            let list = lists.serve(list.parse().unwrap(), face).await?;
            Ok(reply(list.content_type, list.body.to_vec()))
        }
        ["verifier", "requests", id] => {
            let object = app.main().verifier()?.request_object(id, None).await?;
            Ok(reply(
                "application/oauth-authz-req+jwt",
                object.into_bytes(),
            ))
        }
        _ => Err(Error::not_found("address-unknown")),
    }
}

async fn posted(app: &App, head: &http::request::Parts, body: &[u8]) -> Result<Reply> {
    let path = head.uri.path().trim_start_matches('/');
    let text = |name: &str| head.headers.get(name)?.to_str().ok();
    let authorization = text("authorization").unwrap_or_default();
    let (scheme, token) = authorization.split_once(' ').unwrap_or_default();
    let main = app.main();
    let url = main.organisation.url(path)?;
    let presented = PresentedToken {
        url: &url,
        method: "POST",
        is_dpop: scheme == "DPoP",
        token,
        proof: text("dpop"),
    };
    match path {
        "issuer/token" => {
            let headers = TokenHeaders {
                attestation: None,
                dpop: text("dpop"),
            };
            json(&main.issuer()?.token_for(body, headers).await?)
        }
        "registry/transactions" => json(&app.registry()?.submit(&parse_transaction(body)?).await?),
        "issuer/nonce" => json(&app.main().issuer()?.nonce()),
        "issuer/credential" => given(app.credential(main, &presented, body).await?),
        "issuer/deferred" => given(app.deferred(main, &presented, body).await?),
        "issuer/notification" => {
            app.notified(main, &presented, body).await?;
            Ok(reply(JSON, Vec::new()))
        }
        other => {
            let id = other.strip_prefix("verifier/responses/");
            let id = id.ok_or_else(|| Error::not_found("address-unknown"))?;
            json(&app.main().verifier()?.response(id, body).await?)
        }
    }
}

fn given(answer: CredentialAnswer) -> Result<Reply> {
    let later = |mut reply: Reply| {
        *reply.status_mut() = http::StatusCode::ACCEPTED;
        reply
    };
    Ok(match answer {
        CredentialAnswer::Plain(response) => json(&response)?,
        CredentialAnswer::Encrypted(token) => reply(MEDIA_TYPE, token.into_bytes()),
        CredentialAnswer::Deferred(response) => later(json(&response)?),
        CredentialAnswer::EncryptedDeferred(token) => later(reply(MEDIA_TYPE, token.into_bytes())),
    })
}

fn did(text: &str) -> Did {
    Did::parse(text).unwrap()
}

fn json(value: &impl Serialize) -> Result<Reply> {
    Ok(reply(JSON, serde_json::to_vec(value).unwrap()))
}

fn reply(content_type: &str, body: Vec<u8>) -> Reply {
    http::Response::builder()
        .header("content-type", content_type)
        .body(Full::from(body))
        .unwrap()
}

fn refused(error: &Error) -> Reply {
    let status = match error.kind {
        ErrorKind::Unauthenticated => 401,
        ErrorKind::NotFound => 404,
        ErrorKind::Forbidden => 403,
        ErrorKind::Conflict => 409,
        ErrorKind::Gone => 410,
        ErrorKind::Unavailable { .. } => 503,
        ErrorKind::Full => 507,
        ErrorKind::Damaged | ErrorKind::Internal => 500,
        _ => 400,
    };
    let body = serde_json::json!({
        "error": error.code.unwrap_or("invalid_request"),
        "error_description": error.to_string(),
    });
    let mut reply = reply(JSON, body.to_string().into_bytes());
    *reply.status_mut() = http::StatusCode::from_u16(status).unwrap();
    reply
}
