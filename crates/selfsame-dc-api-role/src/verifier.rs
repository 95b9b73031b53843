//! The verifier's side: the request for the browser, and the answer that it brings back.

use std::sync::Arc;

use selfsame_dc_api::origin::is_own;
use selfsame_dc_api::{AskingParty, BroughtAnswer, BrowserAsk, ExchangeProtocol};
use selfsame_driver::Result;
use selfsame_holder::refusal;
use selfsame_openid::verifier::Verifier;
use selfsame_openid4vc::verifier::Asked;
use selfsame_openid4vc::wire::request::ClientId;

use crate::view::{BrowserRequest, BrowserRequests, PageMessage};

/// What a page of this verifier gives to its browser to ask by this request. Without a protocol, a request whose client
/// signs is signed. Nothing changes by this, and each call signs anew.
///
/// # Errors
/// `NotFound`; `Gone` if the request is over; `BadRequest` for a protocol that is not spoken.
pub async fn browser_request(
    verifier: &Verifier,
    id: &str,
    protocol: Option<&str>,
) -> Result<BrowserRequests> {
    let named = protocol.map(ExchangeProtocol::parse).transpose();
    let named = named.map_err(refusal)?;
    let asked = verifier.open_request(id).await?;
    let clients = verifier.signing_clients(&asked).into_iter();
    let party = |one: selfsame_openid::verifier::SigningClient| AskingParty {
        client: one.client,
        signer: one.signer,
    };
    let parties: Vec<AskingParty> = clients.map(party).collect();
    let origins = verifier.origins();
    let ask = BrowserAsk {
        protocol: named.unwrap_or_else(|| usual(&asked)),
        asked: &asked,
        origins: &origins,
        parties: &parties,
    };
    let ctx = verifier.ctx();
    let step = |evidence: &_| ask.step(evidence, &ctx).map_err(refusal);
    let data = verifier.run(step).await?;
    let request = BrowserRequest {
        protocol: ask.protocol.as_str().to_owned(),
        data,
    };
    Ok(BrowserRequests {
        requests: vec![request],
    })
}

/// The protocol of a request whose caller names none.
fn usual(asked: &Asked) -> ExchangeProtocol {
    match ClientId::parse(&asked.client_id) {
        Ok(client) if client.is_signed() => ExchangeProtocol::Signed,
        _ => ExchangeProtocol::Unsigned,
    }
}

/// Takes the answer that a browser brought back to a page; returns where the browser goes next, if the request says so.
///
/// # Errors
/// `invalid_request` if the page is not one of this verifier, or the answer does not count; as for an answer that is
/// posted.
pub async fn browser_answer(
    verifier: &Arc<Verifier>,
    id: &str,
    answer: &PageMessage,
) -> Result<Option<String>> {
    is_own(&answer.origin, &verifier.origins()).map_err(refusal)?;
    let brought = BroughtAnswer::read(&answer.protocol, &answer.data).map_err(refusal)?;
    let receipt = verifier
        .returned(id, &brought.posted, &answer.origin)
        .await?;
    Ok(receipt.redirect_uri)
}
