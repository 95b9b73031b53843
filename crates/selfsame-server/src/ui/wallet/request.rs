//! Consent: who asks, how that is known, and exactly what would leave the wallet.

use askama::Template;
use axum::extract::State;
use selfsame_app::view::wallet::{AnswerRequest, RequestPreview};
use serde::Deserialize;

use crate::error::Answer;
use crate::extract::{Form, Owner, Query};
use crate::server::Server;
use crate::ui::{self, Frame};

#[derive(Template)]
#[template(path = "wallet_request.html")]
struct Page {
    frame: Frame,
    identified: &'static str,
    name: String,
    preview: RequestPreview,
}

#[derive(Template)]
#[template(path = "wallet_done.html")]
struct Done {
    frame: Frame,
    outcome: &'static Outcome,
    go_on: Option<String>,
}

/// The link that led here.
#[derive(Deserialize)]
pub struct Link {
    uri: String,
}

/// Shows what is asked.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Query(Link { uri }): Query<Link>,
) -> Answer {
    let preview = server.wallet()?.preview_request(&person, &uri).await?;
    let identified = identified(&preview.verifier.prefix);
    let name = ui::bare_name(&preview.verifier.client_id).to_owned();
    ui::html(&Page {
        frame: frame.titled("A request"),
        identified,
        name,
        preview,
    })
}

/// Shares what was shown, or declines.
pub async fn answer(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    form: Form,
) -> Answer {
    let request = form.needed("request")?.to_owned();
    let frame = frame.titled("Done");
    let wallet = server.wallet()?;
    if form.one("decision") != Some("share") {
        let declined = wallet.decline_request(&person, &request).await?;
        return ui::html(&Done::new(frame, &DECLINED, declined.redirect_uri));
    }
    let answered = wallet
        .answer_request(&person, &chosen(request, &form))
        .await?;
    let outcome = if answered.delivered {
        &SHOWN
    } else {
        &NOT_TAKEN
    };
    ui::html(&Done::new(frame, outcome, answered.redirect_uri))
}

/// The cards that the person chose, one for each query.
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

/// What came of it, in words and a mark.
struct Outcome {
    class: &'static str,
    mark: &'static str,
    headline: &'static str,
    text: &'static str,
}

const SHOWN: Outcome = Outcome {
    class: "",
    mark: "✓",
    headline: "Shown",
    text: "The verifier has what you agreed to, and nothing else.",
};
const NOT_TAKEN: Outcome = Outcome {
    class: "is-bad",
    mark: "✗",
    headline: "Not taken",
    text: "The verifier did not take the answer. Its request may have been answered already, or its time is over: ask for a new one.",
};
const DECLINED: Outcome = Outcome {
    class: "is-plain",
    mark: "–",
    headline: "Declined",
    text: "Nothing has left your wallet.",
};

impl Done {
    fn new(frame: Frame, outcome: &'static Outcome, redirect_uri: Option<String>) -> Self {
        let go_on = redirect_uri.filter(|uri| leads_to_a_page(uri));
        Self {
            frame,
            outcome,
            go_on,
        }
    }
}

/// Where a verifier may lead: to a page, never to a script.
fn leads_to_a_page(uri: &str) -> bool {
    url::Url::parse(uri).is_ok_and(|uri| matches!(uri.scheme(), "https" | "http"))
}

/// How the verifier's name is known, for people.
fn identified(prefix: &str) -> &'static str {
    match prefix {
        "decentralized_identifier" => "a signature with the key of its DID",
        "x509_san_dns" => "a signature with the key of a certificate for that host",
        _ => "a signature",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_cannot_lead_to_a_script() {
        assert!(leads_to_a_page("https://verifier.example/done?code=1"));
        assert!(!leads_to_a_page("javascript:alert(1)"));
        assert!(!leads_to_a_page("data:text/html,x"));
    }
}
