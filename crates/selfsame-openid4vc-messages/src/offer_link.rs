//! Links to credential offers, and offers that were fetched (OpenID4VCI 1.0 §4.1).

use selfsame_oauth::Form;
use url::Url;

use crate::error::Error;
use crate::media_type;
use crate::offer::{CredentialOffer, HAIP_SCHEME, SCHEME};
use crate::transport::Transport;

/// Maximum length of a link, in bytes.
const MAX_LINK: usize = 64 * 1024;
const ADVICE: &str = "Ask the issuer for a new offer.";

/// An offer, or the URL to fetch it from.
#[derive(Clone, Debug)]
pub enum OfferSource {
    /// The offer itself.
    Value(CredentialOffer),
    /// The URL to fetch the offer from with GET; redirects to other places must not be followed.
    Reference(Url),
}

/// Reads the link that a person scanned or followed, or an offer as JSON.
pub fn locate(link: &str, transport: &Transport) -> Result<OfferSource, Error> {
    let bad = |reason: &str| Error::counterpart(reason, ADVICE);
    if link.trim_start().starts_with('{') && link.len() <= MAX_LINK {
        return offer(link.trim().as_bytes()).map(OfferSource::Value);
    }
    let url = Some(link.trim())
        .filter(|link| link.len() <= MAX_LINK)
        .and_then(|link| Url::parse(link).ok())
        .ok_or_else(|| bad("this is not a link"))?;
    if ![SCHEME, HAIP_SCHEME].contains(&url.scheme()) && !transport.allows(&url) {
        return Err(bad("this is not a link to a credential offer"));
    }
    let mut query = Form::of_query(url.query().unwrap_or_default())
        .map_err(|error| bad(&format!("the link is malformed: {error}")))?;
    match (
        query.take("credential_offer"),
        query.take("credential_offer_uri"),
    ) {
        (Some(text), None) => offer(text.as_bytes()).map(OfferSource::Value),
        (None, Some(text)) => transport
            .parse(&text)
            .map(OfferSource::Reference)
            .ok_or_else(|| {
                bad("the offer is neither at an https address nor at an origin trusted without TLS")
            }),
        (Some(_), Some(_)) => Err(bad(
            "the link contains both an offer and the URL of an offer",
        )),
        (None, None) => Err(bad("the link contains no credential offer")),
    }
}

/// Reads an offer that was fetched from its URL.
pub fn read(body: &[u8], content_type: Option<&str>) -> Result<CredentialOffer, Error> {
    // §4.1.3: the media type is application/json; an offer is never a JWT.
    if content_type.map(media_type).as_deref() != Some("application/json") {
        return Err(Error::counterpart(
            "the offer's media type is not application/json",
            ADVICE,
        ));
    }
    offer(body)
}

fn offer(bytes: &[u8]) -> Result<CredentialOffer, Error> {
    CredentialOffer::parse(bytes).map_err(|error| Error::counterpart(error.to_string(), ADVICE))
}
