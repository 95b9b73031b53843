//! The window that another site's page opens to ask a person's wallet. Its script takes the request from a message of
//! that page, and the origin from the browser; what goes back goes to a page of that origin alone.
//!
//! The two windows must see each other for that, so these pages leave out `Cross-Origin-Opener-Policy: same-origin`
//! (HTML §7.1.3). They show nothing of the person before the page has asked.

use axum::response::Response;
use http::{HeaderName, HeaderValue};
use selfsame_catalogue::english;
use selfsame_dc_api_role::{PageMessage, refused_data};
use selfsame_driver::ErrorKind;
use selfsame_http::error::Handled;
use selfsame_http::extract::Form;
use selfsame_pages::Frame;
use selfsame_pages::wallet::page::{ReturnedPage, WindowPage};
use selfsame_pages::wallet::request::{RefusedChoice, RequestPreviewPage};
use selfsame_wallet::view::{AnswerRequest, ReturnedAnswer};

use crate::here::WindowHere;
use crate::{html, message};

/// Where the person's answer is sent to.
const ANSWER: &str = "/wallet/browser/answer";

/// Waits for the page that opened the window.
pub async fn page(frame: Frame) -> Handled {
    seen(html(&WindowPage::of(frame)))
}

/// Shows the request of that page, or tells that page why it is refused.
pub async fn request(here: WindowHere, frame: Frame, form: Form) -> Handled {
    let asked = message(&form)?;
    match here.preview(&asked).await {
        Ok(preview) => seen(html(
            &RequestPreviewPage::of(frame, preview, None).answered_at(ANSWER),
        )),
        Err(error) if error.kind == ErrorKind::BadRequest => {
            let PageMessage {
                origin, protocol, ..
            } = asked;
            let returned = ReturnedAnswer {
                origin,
                protocol,
                data: refused_data(&error),
            };
            let why = Some(english(&error.reason));
            seen(html(&ReturnedPage::of(frame, &returned, why)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives the page what the person agreed to share, or that they decline.
pub async fn answer(here: WindowHere, frame: Frame, form: Form) -> Handled {
    let request = form.needed("request")?.to_owned();
    if form.one("decision") == Some("share") {
        return share(&here, frame, chosen(request, &form)).await;
    }
    let declined = here.wallet.decline_request(&here.person, &request).await?;
    returned(frame, declined.returned)
}

async fn share(here: &WindowHere, frame: Frame, answer: AnswerRequest) -> Handled {
    let (wallet, person) = (&here.wallet, &here.person);
    match wallet.answer_request(person, &answer).await {
        Ok(answered) => returned(frame, answered.returned),
        // The person chose too little or too much: show the form again with their choice.
        Err(error) if error.kind == ErrorKind::BadRequest => {
            let preview = wallet.preview_request(person, &answer.request).await?;
            let refused = RefusedChoice {
                cards: answer.cards,
                problem: english(&error.reason),
            };
            let page = RequestPreviewPage::of(frame, preview, Some(refused));
            seen(html(&page.answered_at(ANSWER)))
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

fn returned(frame: Frame, returned: Option<ReturnedAnswer>) -> Handled {
    match returned {
        Some(returned) => seen(html(&ReturnedPage::of(frame, &returned, None))),
        // A request that no page asked was answered where it said.
        None => html(&WindowPage::of(frame)),
    }
}

fn seen(response: Handled) -> Handled {
    let mut response: Response = response?;
    let name = HeaderName::from_static("cross-origin-opener-policy");
    let open = HeaderValue::from_static("unsafe-none");
    response.headers_mut().insert(name, open);
    Ok(response)
}
