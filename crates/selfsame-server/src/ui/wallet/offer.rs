//! An offer: its issuer and its credentials, shown before anything is accepted.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_catalogue::english;
use selfsame_driver::{Error, ErrorKind};
use selfsame_pages::wallet::offer::{OfferPreviewPage, TriedOffer};
use selfsame_wallet::view::AcceptOffer;
use serde::Deserialize;

use crate::error::Handled;
use crate::extract::{Form, Owner, Query};
use crate::server::Server;
use crate::ui::{self, Frame};

/// The link that led here; `None` if the address of a submitted form is opened again.
#[derive(Deserialize)]
pub struct OfferQuery {
    uri: Option<String>,
}

/// Shows the offer.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(OfferQuery { uri }): Query<OfferQuery>,
) -> Handled {
    let Some(uri) = uri.filter(|uri| !uri.is_empty()) else {
        return Ok(Redirect::to(super::HOME).into_response());
    };
    show(&server, frame, TriedOffer::new(uri, own(&server))).await
}

/// Accepts the offer. If the person can correct the error, such as a wrong code, shows the form again.
pub async fn accept(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    form: Form,
) -> Handled {
    let accept = sent(&form)?;
    let tried = TriedOffer::new(accept.offer.clone(), own(&server));
    let wallet = server.wallet()?;
    if let Some(begun) = wallet.sign_in_for(&person, &accept).await? {
        return show(&server, frame, tried.signing_in(begun.url)).await;
    }
    match wallet.accept_offer(&person, &accept).await {
        Ok(_) => Ok(Redirect::to("/wallet?done=accepted").into_response()),
        // The wallet's page says when it looks for the credential next.
        Err(error) if is_prepared(&error) => Ok(Redirect::to(super::HOME).into_response()),
        Err(error) if accept.tx_code.is_some() && can_be_put_right(&error) => {
            show(&server, frame, tried.failed(english(&error.reason))).await
        }
        Err(error) => Err(error.into()),
    }
}

fn sent(form: &Form) -> Handled<AcceptOffer> {
    Ok(AcceptOffer {
        offer: form.needed("uri")?.to_owned(),
        tx_code: form.one("tx_code").map(str::to_owned),
        did: None,
        copies: None,
    })
}

/// Whether the issuer prepares the credential, which comes later by itself.
fn is_prepared(error: &Error) -> bool {
    error.reason.id() == "credential-prepared"
}

/// Whether the person can correct the error. A wrong code is refused by the wallet or by the issuer; the issuer's error
/// is the same as for an expired offer (OpenID4VCI 1.0 §6.3). Loading the offer again tells which of the two it is.
fn can_be_put_right(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::BadRequest | ErrorKind::Upstream | ErrorKind::Gone
    )
}

fn own(server: &Server) -> url::Url {
    server.app().config().origin.clone()
}

async fn show(server: &Server, frame: Frame, tried: TriedOffer) -> Handled {
    let preview = server.wallet()?.preview_offer(&tried.uri).await?;
    ui::html(&OfferPreviewPage::of(frame, preview, tried))
}
