//! Consent: who asks, how that is known, and exactly what would leave the wallet.

use askama::Template;
use axum::extract::State;
use selfsame_app::ErrorKind;
use selfsame_app::view::readable;
use selfsame_app::view::wallet::{AnswerRequest, Person, RequestPreview};
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
    alternatives: Vec<Alternatives>,
    preview: RequestPreview,
    problem: Option<String>,
}

/// Of these one is enough: each the titles of its cards.
struct Alternatives {
    required: bool,
    options: Vec<Vec<String>>,
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
    show(&server, frame, (&person, &uri, None)).await
}

async fn show(
    server: &Server,
    frame: Frame,
    (person, request, problem): (&Person, &str, Option<String>),
) -> Answer {
    let mut preview = server.wallet()?.preview_request(person, request).await?;
    // What leaves unless the person chooses otherwise stands first.
    preview.shares.sort_by_key(|share| !share.preselected);
    ui::html(&Page {
        frame: frame.titled("A request"),
        identified: identified(&preview.verifier.prefix),
        name: readable(ui::bare_name(&preview.verifier.client_id)),
        alternatives: alternatives(&preview),
        preview,
        problem,
    })
}

/// The sets that leave a choice, in the names of the cards that would be shown.
fn alternatives(preview: &RequestPreview) -> Vec<Alternatives> {
    let title = |id: &String| {
        let share = preview.shares.iter().find(|share| share.query == *id)?;
        Some(share.choices.first()?.title.clone())
    };
    let sets = preview.sets.iter().filter(|set| set.options.len() > 1);
    sets.map(|set| Alternatives {
        required: set.required,
        options: set
            .options
            .iter()
            .map(|option| option.iter().filter_map(title).collect())
            .collect(),
    })
    .collect()
}

/// Shares what was shown, or declines.
pub async fn answer(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    form: Form,
) -> Answer {
    let request = form.needed("request")?.to_owned();
    if form.one("decision") == Some("share") {
        return share(&server, frame, (&person, &chosen(request, &form))).await;
    }
    let declined = server.wallet()?.decline_request(&person, &request).await?;
    ui::html(&Done::new(frame, &DECLINED, declined.redirect_uri))
}

async fn share(
    server: &Server,
    frame: Frame,
    (person, answer): (&Person, &AnswerRequest),
) -> Answer {
    match server.wallet()?.answer_request(person, answer).await {
        Ok(answered) => {
            let outcome = if answered.delivered {
                &SHOWN
            } else {
                &NOT_TAKEN
            };
            ui::html(&Done::new(frame, outcome, answered.redirect_uri))
        }
        // Too little or too much was chosen: the person chooses again.
        Err(error) if error.kind == ErrorKind::BadRequest => {
            let problem = Some(error.reason);
            show(server, frame, (person, &answer.request, problem)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The cards that the person chose, one for each query that is not left out.
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
            frame: frame.titled("Done"),
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
    use selfsame_app::config::Roles;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_verifier_cannot_lead_to_a_script() {
        assert!(leads_to_a_page("https://verifier.example/done?code=1"));
        assert!(!leads_to_a_page("javascript:alert(1)"));
        assert!(!leads_to_a_page("data:text/html,x"));
    }

    fn nobodys() -> Frame {
        Frame {
            title: String::new(),
            section: "wallet",
            form: "token".to_owned(),
            roles: Roles {
                issuer: false,
                wallet: true,
                verifier: false,
                registry: false,
            },
            registry_elsewhere: false,
            seat: None,
            operator: false,
            person: None,
        }
    }

    /// The page of somebody who holds cards for these of the queries `a` and `b`.
    fn page(held: &[&str], sets: Value, required: bool) -> String {
        let share = |query: &&str| {
            let choice =
                json!({"card": query, "title": query, "issuer": "did:key:z6", "claims": []});
            let preselected = *query == held[0];
            json!({"query": query, "required": required, "preselected": preselected, "choices": [choice]})
        };
        let asker = json!({"client_id": "redirect_uri:https://v.example/", "prefix": "redirect_uri",
            "host": "v.example", "authenticated": false, "trusted": false});
        let shares: Vec<Value> = held.iter().map(share).collect();
        let missing: &[&str] = if held.contains(&"b") {
            &[]
        } else {
            &["b: missing"]
        };
        let preview = json!({"id": "id", "verifier": asker, "answerable": !held.is_empty(),
            "shares": shares, "sets": sets, "missing": missing});
        let preview: RequestPreview = serde_json::from_value(preview).unwrap();
        let page = Page {
            frame: nobodys(),
            identified: "",
            name: String::new(),
            alternatives: alternatives(&preview),
            preview,
            problem: None,
        };
        page.render().unwrap()
    }

    #[test]
    fn of_alternatives_one_is_chosen_and_the_other_left_out() {
        let either = json!([{"required": true, "options": [["a"], ["b"]]}]);
        let page = page(&["a", "b"], either, false);
        assert!(
            page.contains("One of these is enough: <b><bdi>a</bdi></b>, or <b><bdi>b</bdi></b>.")
        );
        assert!(page.contains("name=\"card.a\" value=\"a\" required checked"));
        assert!(page.contains("name=\"card.b\" value=\"b\" required>"));
        assert!(page.contains("name=\"card.b\" value=\"\" checked"));
        assert!(page.contains("Share this"));
    }

    #[test]
    fn what_is_missing_hinders_only_where_nothing_does_without_it() {
        let one = || json!([{"required": true, "options": [["a"]]}]);
        let answerable = page(&["a"], one(), true);
        assert!(answerable.contains("Share this") && answerable.contains("Not in your wallet"));
        assert!(!answerable.contains("One of these") && !answerable.contains("<b>Nothing</b>"));
        let none = page(&[], json!([{"required": true, "options": []}]), false);
        assert!(!none.contains("Share this") && none.contains("Your wallet cannot answer this"));
    }
}
