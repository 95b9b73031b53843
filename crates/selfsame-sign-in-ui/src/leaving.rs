//! What a person takes along, and the deletion of the account.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Extension;
use axum::response::{IntoResponse as _, Redirect};
use futures_util::{Stream, stream};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use selfsame_crypto::SecretString;
use selfsame_driver::Error;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Json};
use selfsame_http::peer::Peer;
use selfsame_http::response::done;
use selfsame_pages::Frame;
use selfsame_wallet::{HeldSection, Whence};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::account::again;
use crate::door::AtSeat;
use crate::receiving::OwnWallet;

/// The password of a person who deletes their account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Leave {
    /// The password.
    #[schema(value_type = String)]
    password: SecretString,
}

/// Where the next part of everything begins.
struct NextPart {
    section: usize,
    after: Option<String>,
}

/// Everything that the wallet keeps of a person, a JSON object a line: the account, the cards with their credentials, the
/// history, keys without their private parts, DIDs.
#[utoipa::path(get, path = "/api/wallet/everything", operation_id = "wallet_get_everything", tag = "wallet", responses((status = 200, content_type = "application/x-ndjson", body = String)))]
pub async fn everything(own: OwnWallet) -> Handled {
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"wallet.ndjson\"",
        ),
        (CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Body::from_stream(parts(Arc::new(own)))).into_response())
}

/// The parts, each read once the one before it was sent.
fn parts(own: Arc<OwnWallet>) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    let begin = NextPart {
        section: 0,
        after: None,
    };
    stream::try_unfold(begin, move |next| {
        let own = own.clone();
        async move {
            let Some(section) = HeldSection::ALL.get(next.section) else {
                return Ok(None);
            };
            let part = own
                .wallet
                .everything(&own.person, *section, next.after)
                .await?;
            let lines = part.entries.iter().map(|entry| format!("{entry}\n"));
            let then = NextPart {
                section: match part.next {
                    Some(_) => next.section,
                    None => next.section.saturating_add(1),
                },
                after: part.next,
            };
            Ok(Some((lines.collect::<String>(), then)))
        }
    })
}

/// Deletes the account of the person and everything in the wallet, at once and for good.
#[utoipa::path(delete, path = "/api/wallet/account", operation_id = "wallet_delete_account", tag = "wallet", request_body = Leave, responses((status = 204)))]
pub async fn leave(
    own: OwnWallet,
    Extension(peer): Extension<Peer>,
    Json(leave): Json<Leave>,
) -> Handled {
    let whence = Whence::of(peer.address(), None);
    own.wallet
        .leave(&own.person, leave.password, &whence)
        .await?;
    done()
}

/// The same by the form of the account's page.
pub async fn leave_page(own: OwnWallet, at: AtSeat, frame: Frame, form: Form) -> Handled {
    let password = SecretString::from(form.verbatim("password")?);
    let whence = at.door.whence();
    match own.wallet.leave(&own.person, password, &whence).await {
        Ok(()) => Ok(Redirect::to("/wallet/sign-in").into_response()),
        Err(error) => again(&at, frame, &Form::default(), error.into()).await,
    }
}
