//! Links: offers, requests and invitations, by their parameters.

use selfsame_crypto::time::UnixTime;
use serde_json::json;
use url::Url;

use crate::parameters::LinkParameters;
use crate::{NotShown, ShownFile, invitation, offer, request};

/// Whether a text is a link.
pub fn is_link(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
    !text.contains(char::is_whitespace)
        && !scheme.eq_ignore_ascii_case("did")
        && scheme.starts_with(|one: char| one.is_ascii_alphabetic())
        && scheme.chars().all(is_scheme)
}

/// What a link contains. Nothing is fetched.
pub fn explain(text: &str, now: UnixTime) -> Result<ShownFile, NotShown> {
    let url = Url::parse(text).map_err(|error| NotShown::Malformed {
        title: "a link",
        reason: error.to_string(),
    })?;
    let parameters: LinkParameters = url.query_pairs().into_owned().collect();
    let has = |name: &str| parameters.contains_key(name);
    if has("credential_offer")
        || has("credential_offer_uri")
        || [offer::SCHEME, offer::HAIP_SCHEME].contains(&url.scheme())
    {
        return Ok(offer::of_link(&parameters));
    }
    if has("client_id")
        && ["request", "request_uri", "dcql_query"]
            .iter()
            .any(|one| has(one))
    {
        return Ok(request::of_link(&parameters, now));
    }
    if has("oob") || has("c_i") {
        return Ok(invitation::explain(text));
    }
    // A wallet's address, which has the link as a parameter.
    if let Some(inner) = parameters.get("uri").filter(|inner| is_link(inner)) {
        let inner = Url::parse(inner).ok();
        let is_wrapped = |inner: &Url| !inner.query_pairs().any(|(name, _)| name == "uri");
        if let Some(inner) = inner.filter(is_wrapped) {
            return explain(inner.as_str(), now);
        }
    }
    let content = json!({"address": text, "parameters": parameters});
    match parameters.is_empty() {
        true => Err(NotShown::Unknown),
        false => Ok(ShownFile::of("link", "Link", content)),
    }
}
