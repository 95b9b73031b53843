//! The answer of the other provider's userinfo endpoint (OpenID Connect Core §5.3.2).

use selfsame_crypto::json;
use selfsame_net::Response;
use selfsame_oauth::jwt::Jwt;
use serde_json::{Map, Value};

use super::{UpstreamAnswer, refused};

/// What the endpoint answered. The signature of a token is not verified yet.
pub(super) enum ReadUserinfo {
    /// Claims without a signature: the connection vouches for them (§5.3.4).
    Plain(Map<String, Value>),
    /// Signed claims.
    Signed(Box<Jwt>),
}

/// Reads an answer. Encrypted claims are refused: this client registers no key for them.
pub(super) fn read(answer: &Response) -> UpstreamAnswer<ReadUserinfo> {
    if !answer.is_success() {
        return Err(refused("userinfo is refused"));
    }
    let malformed = || refused("userinfo is malformed");
    let body = std::str::from_utf8(&answer.body).map_err(|_| malformed())?;
    match answer.media_type().as_deref() {
        Some("application/jwt") => {
            let signed = Jwt::parse(body).map_err(|_| malformed())?;
            Ok(ReadUserinfo::Signed(Box::new(signed)))
        }
        _ => match json::parse(body.as_bytes(), &json::Limits::default()) {
            Ok(Value::Object(claims)) => Ok(ReadUserinfo::Plain(claims)),
            _ => Err(malformed()),
        },
    }
}

/// The claims of a token whose signature is verified, if it is by this issuer for this client. §5.3.2: it names both.
pub(super) fn claims(
    token: Jwt,
    issuer: &str,
    client_id: &str,
) -> UpstreamAnswer<Map<String, Value>> {
    if token.text("iss") != Some(issuer) {
        return Err(refused("userinfo is of another issuer"));
    }
    if token.check_audience(&[client_id]).is_err() {
        return Err(refused("userinfo is for another client"));
    }
    Ok(token.into_claims())
}
