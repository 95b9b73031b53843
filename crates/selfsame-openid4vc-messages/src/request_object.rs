//! How a wallet fetches a request object (OpenID4VP 1.0 §5.10).

use url::Url;

use crate::error::Error;
use crate::media_type;
use crate::request_parameters::MEDIA_TYPE;

const TRY_AGAIN: &str =
    "Open the link again later; if that does not help, ask the verifier for a new one.";

/// How to fetch a request object; redirects must not be followed (OpenID4VP 1.0 with errata, "HTTP Redirects").
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetch {
    /// The URL to fetch from.
    pub url: Url,
    /// The form to post; `None` for GET.
    pub form: Option<Vec<(String, String)>>,
    /// The `Accept` header.
    pub accept: &'static str,
    /// The nonce that the request object must repeat.
    pub wallet_nonce: Option<String>,
}

/// Reads the fetched request object: any status other than 200 ends the request (OpenID4VP 1.0 §5.10.2).
pub fn read(status: u16, content_type: Option<&str>, body: &[u8]) -> Result<String, Error> {
    let refuse = Error::invalid_request;
    match status {
        200 => {}
        // Verifiers use different status codes for this.
        400 | 404 | 410 => {
            return Err(Error::Expired(
                "the request was already answered or has expired",
            ));
        }
        _ => {
            let reason =
                format!("the verifier does not provide its request at the moment: {status}");
            return Err(Error::counterpart(reason, TRY_AGAIN));
        }
    }
    if content_type.map(media_type).as_deref() != Some(MEDIA_TYPE) {
        return Err(refuse(
            "the request's media type is not application/oauth-authz-req+jwt",
        ));
    }
    let object = std::str::from_utf8(body).map_err(|_| refuse("the request is not a JWT"))?;
    Ok(object.trim().to_owned())
}
