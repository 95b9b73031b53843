//! Files that an issuer serves under their hash, fetched for holders.

use std::fmt::Display;

use selfsame_net::{CallLimits, Net, Request};
use url::Url;

/// The file at a URL, after this number of redirects at most. The caller compares its hash.
///
/// # Errors
/// Why it can't be had.
pub(crate) async fn fetched(
    net: &Net,
    location: &str,
    limits: CallLimits,
    redirects: u8,
) -> Result<Vec<u8>, String> {
    let text = |error: &dyn Display| error.to_string();
    let url = Url::parse(location).map_err(|error| text(&error))?;
    let request = Request {
        limits: Some(limits),
        redirects,
        ..Request::default()
    };
    let answer = net.get(&url, &request).await;
    let answer = answer.map_err(|error| text(&error))?;
    match answer.is_success() {
        true => Ok(answer.body.to_vec()),
        false => Err(format!("status {}", answer.status)),
    }
}
