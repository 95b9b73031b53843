//! The wallet's side: a request that a browser brings, for the origin that the browser states.

use selfsame_core::gather::Freshness;
use selfsame_dc_api::{BroughtRequest, answer};
use selfsame_driver::{Error, Result};
use selfsame_holder::{RequestOpener, refusal};
use selfsame_openid4vc::Error as Refused;
use selfsame_openid4vc::holder::AwaitingConsent;
use selfsame_openid4vc::holder::request::WalletTrust;
use serde_json::{Value, json};

use crate::view::PageMessage;

/// Opens a request of a page for a holder: who asks for what. The holder agrees to it, or not.
///
/// # Errors
/// `BadRequest`, with the code of the specification, if the request breaks a rule, also one of the holder's profile, or is
/// for pages of another origin.
pub async fn page_request(
    opener: &RequestOpener<'_>,
    request: &PageMessage,
) -> Result<AwaitingConsent> {
    let PageMessage {
        origin,
        protocol,
        data,
    } = request;
    let brought = BroughtRequest::new(origin, protocol, data.clone(), opener.transport);
    let mut brought = brought.map_err(|error| refused(origin, error))?;
    brought.by_hash_first = opener.profile.is_some();
    let trusted = opener.shared.trust.now();
    let trust = WalletTrust {
        transport: opener.transport,
        anchors: &trusted.anchors,
        transactions: opener.transactions,
    };
    let now = opener.shared.clock.now();
    let freshness = Freshness { max_status_age: 0 };
    let asked = opener
        .shared
        .run(opener.tenant, freshness, |evidence| {
            let opened = brought.open(&trust, evidence, now);
            opened.map_err(|error| refused(origin, error))
        })
        .await?;
    let x5c = brought.certificates(&asked.request.client_id);
    let checked = opener.check_page(&asked, &x5c);
    checked.map_err(|error| refused(origin, error))?;
    Ok(asked)
}

fn refused(origin: &str, error: Refused) -> Error {
    let origin: String = origin.chars().take(300).collect();
    tracing::info!(origin, "a page's request is refused");
    refusal(error)
}

/// What goes back to the page whose request was refused with this error: the specification's code, if it has one.
#[must_use]
pub fn refused_data(error: &Error) -> Value {
    match error.code {
        Some(code) => json!({ "error": code }),
        None => answer::refused(&Refused::Choice("the request can't be answered")),
    }
}
