//! Dynamic registration (RFC 7591), and a client's own registration (RFC 7592).

use http::HeaderMap;
use selfsame_crypto::SecretString;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Path, Raw, is_kind};
use selfsame_http::response::{created, done, json};

use crate::here::{ProviderHere, after};

/// Registers a client, for a program with an initial token.
pub async fn register(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    let token = token(&headers);
    let provider = &here.provider;
    let made = match is_kind(&headers, "application/json") {
        true => provider.register_dynamically(token.as_ref(), &body).await?,
        false => return Err(Problem::bad_request("body-not-json")),
    };
    created(&made)
}

/// A client's own registration.
pub async fn read(here: ProviderHere, Path(id): Path<String>, headers: HeaderMap) -> Handled {
    let token = token(&headers);
    json(&here.provider.own_registration(&id, token.as_ref()).await?)
}

/// Replaces a client's own registration.
pub async fn change(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Handled {
    let token = token(&headers);
    let provider = &here.provider;
    let changed = provider.change_own_registration(&id, token.as_ref(), &body);
    json(&changed.await?)
}

/// Removes a client's own registration.
pub async fn remove(here: ProviderHere, Path(id): Path<String>, headers: HeaderMap) -> Handled {
    let token = token(&headers);
    let provider = &here.provider;
    provider
        .remove_own_registration(&id, token.as_ref())
        .await?;
    done()
}

fn token(headers: &HeaderMap) -> Option<SecretString> {
    after(headers, "bearer").map(SecretString::from)
}
