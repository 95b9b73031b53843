//! Consent: the verifier, how it is identified, and exactly what would leave the wallet.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_catalogue::english;
use selfsame_driver::ErrorKind;
use selfsame_pages::wallet::request::{AnswerOutcome, DonePage, RefusedChoice, RequestPreviewPage};
use selfsame_wallet::view::{AnswerRequest, Person};
use serde::Deserialize;

use crate::error::Handled;
use crate::extract::{Form, Owner, Query};
use crate::server::Server;
use crate::ui::{self, Frame};

/// The link that led here; `None` if the address of a submitted form is opened again.
#[derive(Deserialize)]
pub struct RequestQuery {
    uri: Option<String>,
}

/// Shows the request.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Query(RequestQuery { uri }): Query<RequestQuery>,
) -> Handled {
    let Some(uri) = uri.filter(|uri| !uri.is_empty()) else {
        return Ok(Redirect::to(super::HOME).into_response());
    };
    let preview = server.wallet()?.preview_request(&person, &uri).await?;
    ui::html(&RequestPreviewPage::of(frame, preview, None))
}

/// Shares what was shown, or declines.
pub async fn answer(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    form: Form,
) -> Handled {
    let request = form.needed("request")?.to_owned();
    if form.one("decision") == Some("share") {
        return share(&server, frame, &person, &chosen(request, &form)).await;
    }
    let declined = server.wallet()?.decline_request(&person, &request).await?;
    let outcome = AnswerOutcome::Declined;
    ui::html(&DonePage::of(frame, outcome, declined.redirect_uri))
}

async fn share(server: &Server, frame: Frame, person: &Person, answer: &AnswerRequest) -> Handled {
    match server.wallet()?.answer_request(person, answer).await {
        Ok(answered) => {
            let outcome = match answered.delivered {
                true => AnswerOutcome::Shown,
                false => AnswerOutcome::NotTaken,
            };
            ui::html(&DonePage::of(frame, outcome, answered.redirect_uri))
        }
        // The person chose too little or too much: show the form again with their choice.
        Err(error) if error.kind == ErrorKind::BadRequest => {
            let wallet = server.wallet()?;
            let preview = wallet.preview_request(person, &answer.request).await?;
            let refused = RefusedChoice {
                cards: answer.cards.clone(),
                problem: english(&error.reason),
            };
            ui::html(&RequestPreviewPage::of(frame, preview, Some(refused)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The card that the person chose for each query that is not left out.
fn chosen(request: String, form: &Form) -> AnswerRequest {
    let cards = form.starting("card.");
    AnswerRequest {
        request,
        cards: cards
            .map(|(query, card)| (query.to_owned(), card.to_owned()))
            .collect(),
        policy: None,
    }
}
