//! Consent: the verifier, how it is identified, and exactly what would leave the wallet.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use selfsame_core::view::readable;
use selfsame_wallet_view::requests::{RequestPreview, Share, ShareSet};

use crate::Frame;
use crate::look::own_path;
use crate::text::bare_name;

/// Where the answer is sent to if the wallet itself has opened the request.
const OWN: &str = "/wallet/request";

/// A request to a wallet, with what would be shown.
#[derive(Template)]
#[template(path = "wallet_request.html")]
pub struct RequestPreviewPage {
    frame: Frame,
    identified: &'static str,
    name: String,
    alternatives: Vec<Alternatives>,
    preview: RequestPreview,
    chosen: Cards,
    problem: Option<String>,
    action: &'static str,
}

/// The chosen card for each query; a query that is absent shares nothing.
type Cards = BTreeMap<String, String>;

/// A choice that does not answer the request.
pub struct RefusedChoice {
    /// The chosen card for each query; a query that is absent shares nothing.
    pub cards: BTreeMap<String, String>,
    /// Why it does not answer the request.
    pub problem: String,
}

impl RequestPreviewPage {
    /// The page of this request: with what the wallet preselects, or with the choice that was refused.
    pub fn of(frame: Frame, mut preview: RequestPreview, refused: Option<RefusedChoice>) -> Self {
        let (chosen, problem) = match refused {
            Some(refused) => (refused.cards, Some(refused.problem)),
            None => (preselected(&preview), None),
        };
        // What is shared unless the person chooses otherwise comes first.
        let stays = |share: &Share| !chosen.contains_key(&share.query);
        preview.shares.sort_by_key(stays);
        let title = "A request";
        Self {
            frame: match problem {
                Some(_) => frame.failed(title),
                None => frame.titled(title),
            },
            identified: identified(&preview.verifier.prefix),
            name: readable(bare_name(&preview.verifier.client_id)),
            alternatives: alternatives(&preview),
            preview,
            chosen,
            problem,
            action: OWN,
        }
    }

    /// The page whose answer is sent to this address.
    pub fn answered_at(self, action: &'static str) -> Self {
        Self { action, ..self }
    }

    /// Whether another page has opened the window that this page stands in.
    fn is_in_window(&self) -> bool {
        self.action != OWN
    }

    /// Whether a page asks by the browser, which takes the answer back to it.
    fn is_of_page(&self) -> bool {
        self.preview.verifier.client_id.starts_with("origin:")
    }

    /// The verifier's name, as the heading of the page; `None` for an unsigned request, which proves no name.
    fn heading(&self) -> Option<&str> {
        let asker = &self.preview.verifier;
        asker.name.as_deref().filter(|_| asker.authenticated)
    }

    /// The logo beside that name.
    fn logo(&self) -> Option<String> {
        self.heading()?;
        self.preview.verifier.logo.as_deref().and_then(own_path)
    }

    fn leaves(&self, query: &str) -> bool {
        self.chosen.contains_key(query)
    }

    fn is_chosen(&self, query: &str, card: &str) -> bool {
        self.chosen.get(query).is_some_and(|chosen| chosen == card)
    }
}

/// The cards the wallet preselects.
fn preselected(preview: &RequestPreview) -> Cards {
    let shares = preview.shares.iter().filter(|share| share.preselected);
    let first = |share: &Share| Some((share.query.clone(), share.choices.first()?.card.clone()));
    shares.filter_map(first).collect()
}

/// Alternatives, one of which is enough.
struct Alternatives {
    required: bool,
    /// Whether each alternative can be left out in favour of another.
    can_be_left: bool,
    options: Vec<Vec<AlternativeCard>>,
}

/// A card of an alternative.
#[derive(Eq, PartialEq)]
struct AlternativeCard {
    title: String,
    /// The claims it would share; empty if the title alone tells the alternatives apart.
    claims: String,
}

/// The sets that leave a choice, with the titles of the cards that would be shown.
fn alternatives(preview: &RequestPreview) -> Vec<Alternatives> {
    let sets = preview.sets.iter();
    let described = sets.map(|set| Alternatives::of(set, preview));
    described.filter(|set| set.options.len() > 1).collect()
}

impl Alternatives {
    fn of(set: &ShareSet, preview: &RequestPreview) -> Self {
        let share = |id: &String| preview.shares.iter().find(|share| share.query == *id);
        let mut options: Vec<Vec<AlternativeCard>> = Vec::new();
        for option in &set.options {
            let parts = option
                .iter()
                .filter_map(share)
                .filter_map(AlternativeCard::of);
            let parts = parts.collect();
            // An option that would show the same cards and claims is not an alternative.
            if !options.contains(&parts) {
                options.push(parts);
            }
        }
        let called = |option: &[AlternativeCard]| -> Vec<String> {
            option.iter().map(|part| part.title.clone()).collect()
        };
        let names: BTreeSet<Vec<String>> = options.iter().map(|one| called(one)).collect();
        if names.len() == options.len() {
            options
                .iter_mut()
                .flatten()
                .for_each(|part| part.claims.clear());
        }
        // A query that is in every option does not affect the choice between options.
        let everywhere = |id: &String| set.options.iter().all(|option| option.contains(id));
        let mut varied = set.options.iter().flatten().filter(|id| !everywhere(id));
        Self {
            required: set.required,
            can_be_left: varied.all(|id| share(id).is_some_and(|share| !share.required)),
            options,
        }
    }
}

impl AlternativeCard {
    fn of(share: &Share) -> Option<Self> {
        let choice = share.choices.first()?;
        let claims: Vec<&str> = choice
            .claims
            .iter()
            .filter(|claim| !claim.technical)
            .map(|claim| claim.label.as_str())
            .collect();
        Some(Self {
            title: choice.title.clone(),
            claims: match claims.as_slice() {
                [] => "none of its claims".to_owned(),
                claims => claims.join(", "),
            },
        })
    }
}

/// The result of an answer, or of a refusal to answer.
#[derive(Template)]
#[template(path = "wallet_done.html")]
pub struct DonePage {
    frame: Frame,
    outcome: OutcomeInWords,
    go_on: Option<String>,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug)]
pub enum AnswerOutcome {
    /// The verifier took it.
    Shown,
    /// The verifier did not take it.
    NotTaken,
    /// The person did not answer.
    Declined,
}

/// The outcome, in words and a mark.
struct OutcomeInWords {
    class: &'static str,
    mark: &'static str,
    headline: &'static str,
    text: &'static str,
}

impl AnswerOutcome {
    fn in_words(self) -> OutcomeInWords {
        match self {
            Self::Shown => OutcomeInWords {
                class: "",
                mark: "✓",
                headline: "Shown",
                text: "The verifier received what you agreed to share, and nothing else.",
            },
            Self::NotTaken => OutcomeInWords {
                class: "is-bad",
                mark: "✗",
                headline: "Not accepted",
                text: "The verifier did not accept the answer. Its request may have been answered already or have expired: ask for a new one.",
            },
            Self::Declined => OutcomeInWords {
                class: "is-plain",
                mark: "–",
                headline: "Declined",
                text: "Nothing has left your wallet.",
            },
        }
    }
}

impl DonePage {
    /// The page of this outcome. It leads to where the verifier redirects the person, if that is a page.
    pub fn of(frame: Frame, outcome: AnswerOutcome, redirect_uri: Option<String>) -> Self {
        Self {
            frame: frame.titled("Done"),
            outcome: outcome.in_words(),
            go_on: redirect_uri.filter(|uri| leads_to_a_page(uri)),
        }
    }
}

/// Whether a verifier may redirect the person there: to a page, never to a script.
fn leads_to_a_page(uri: &str) -> bool {
    url::Url::parse(uri).is_ok_and(|uri| matches!(uri.scheme(), "https" | "http"))
}

/// How the verifier is identified, for people.
fn identified(prefix: &str) -> &'static str {
    match prefix {
        "decentralized_identifier" => "a signature with the key of its DID",
        "x509_san_dns" => "a signature with the key of a certificate for that host",
        "x509_hash" => "a signature with the key of its certificate",
        "verifier_attestation" => {
            "a signature with a key that somebody attests whom this wallet trusts"
        }
        _ => "a signature",
    }
}

#[cfg(test)]
mod tests {
    use selfsame_wallet_view::cards::ClaimLine;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_verifier_cannot_lead_to_a_script() {
        assert!(leads_to_a_page("https://verifier.example/done?code=1"));
        assert!(!leads_to_a_page("javascript:alert(1)"));
        assert!(!leads_to_a_page("data:text/html,x"));
    }

    /// The page for a person who holds cards for the given ones of the queries `a` and `b`.
    fn page(held: &[&str], sets: Value, required: bool) -> String {
        shown(preview(held, sets, required), None)
    }

    fn shown(preview: RequestPreview, refused: Option<RefusedChoice>) -> String {
        RequestPreviewPage::of(Frame::of_visitor(), preview, refused)
            .render()
            .unwrap()
    }

    fn preview(held: &[&str], sets: Value, required: bool) -> RequestPreview {
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
        serde_json::from_value(preview).unwrap()
    }

    #[test]
    fn a_name_without_proof_is_the_verifiers_own_words() {
        let one = json!([{"required": true, "options": [["a"]]}]);
        let mut asked = preview(&["a"], one, true);
        asked.verifier.name = Some("Harbour Office".to_owned());
        asked.purpose = Some("To let you aboard".to_owned());
        let title = "<h1 class=\"wrap\"><bdi>Harbour Office</bdi>";
        let own_words = ", by its own words,";
        let unsigned = shown(asked.clone(), None);
        assert!(!unsigned.contains(title) && unsigned.contains("<bdi>Harbour Office</bdi>"));
        assert!(
            unsigned.contains("What for, by its own words:</span> <bdi>To let you aboard</bdi>")
        );
        asked.verifier.authenticated = true;
        let signed = shown(asked.clone(), None);
        assert!(
            signed.contains(title) && signed.contains(own_words),
            "{signed}"
        );
        asked.verifier.trusted = true;
        let trusted = shown(asked, None);
        assert!(
            trusted.contains(title) && !trusted.contains(own_words),
            "{trusted}"
        );
    }

    #[test]
    fn consent_says_what_stays_hidden_and_shows_lists_as_tables() {
        let one = json!([{"required": true, "options": [["a"]]}]);
        let mut asked = preview(&["a"], one, true);
        assert!(!shown(asked.clone(), None).contains("Stays hidden"));
        let choice = &mut asked.shares[0].choices[0];
        choice.hidden = vec!["Given name".to_owned(), "Family name".to_owned()];
        let doses = json!([{"lot": "A"}, {"lot": "B"}]);
        choice.claims = vec![ClaimLine::of("Doses", &doses, &[])];
        let page = shown(asked, None);
        let stays = "Stays hidden:</b> <bdi>Given name</bdi>, <bdi>Family name</bdi></span>";
        assert!(page.contains(stays), "{page}");
        assert!(
            page.contains("<th scope=\"col\"><bdi>lot</bdi></th>"),
            "{page}"
        );
        assert!(
            page.contains("<td data-label=\"lot\"><bdi>B</bdi></td>"),
            "{page}"
        );
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
        // The wallet opened it, not another page.
        assert!(!page.contains("data-settles"));
    }

    #[test]
    fn alternatives_of_one_name_are_told_apart_by_their_claims_and_the_same_is_offered_once() {
        let either = json!([{"required": true, "options": [["a"], ["b"]]}]);
        let mut asked = preview(&["a", "b"], either, false);
        asked.shares[1].choices[0].title = "a".to_owned();
        assert!(!shown(asked.clone(), None).contains("One of these"));
        let claim = json!({"path": ["name"], "label": "Name", "value": "Maja"});
        let claim = serde_json::from_value(claim).unwrap();
        asked.shares[1].choices[0].claims.push(claim);
        let page = shown(asked, None);
        let either = "<b><bdi>a</bdi></b> (<bdi>none of its claims</bdi>), or <b><bdi>a</bdi></b> (<bdi>Name</bdi>).";
        assert!(page.contains(either), "{page}");
    }

    #[test]
    fn the_hint_to_choose_nothing_is_shown_only_where_nothing_can_be_chosen() {
        let hint = "choose Nothing for the one you leave out";
        let either = || json!([{"required": true, "options": [["a"], ["b"]]}]);
        assert!(page(&["a", "b"], either(), false).contains(hint));
        let mut asked = preview(&["a", "b"], either(), false);
        asked.shares[0].required = true;
        assert!(!shown(asked, None).contains(hint));
    }

    #[test]
    fn what_was_chosen_stays_chosen_after_an_error() {
        let either = json!([{"required": true, "options": [["a"], ["b"]]}]);
        let mut preview = preview(&["a", "b"], either, false);
        let mut older = preview.shares[1].choices[0].clone();
        older.card = "older".to_owned();
        preview.shares[1].choices.push(older);
        let after = |chosen: &[(&str, &str)]| {
            let owned = |(query, card): &(&str, &str)| ((*query).to_owned(), (*card).to_owned());
            let chosen = chosen.iter().map(owned).collect();
            let problem = "no".to_owned();
            let refused = RefusedChoice {
                cards: chosen,
                problem,
            };
            let page = shown(preview.clone(), Some(refused));
            let radios = page.split("<input type=\"radio\"").skip(1);
            let checked =
                radios.filter(|radio| radio.split('>').next().unwrap().ends_with("checked"));
            let value = |radio: &str| {
                let mut quoted = radio.split('"');
                (
                    quoted.nth(1).unwrap().to_owned(),
                    quoted.nth(1).unwrap().to_owned(),
                )
            };
            checked.map(value).collect::<Vec<_>>()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            after(&[("a", "a"), ("b", "older")]),
            [pair("card.a", "a"), pair("card.b", "older")]
        );
        assert_eq!(
            after(&[("b", "older")]),
            [pair("card.b", "older"), pair("card.a", "")]
        );
        assert_eq!(after(&[]), [pair("card.a", ""), pair("card.b", "")]);
        assert_eq!(
            after(&[("b", "gone since")]),
            [pair("card.a", "")],
            "no card takes the place of another"
        );
    }

    #[test]
    fn what_is_missing_hinders_only_where_nothing_does_without_it() {
        let one = || json!([{"required": true, "options": [["a"]]}]);
        let answerable = page(&["a"], one(), true);
        assert!(answerable.contains("Share this") && answerable.contains("Not in your wallet"));
        assert!(!answerable.contains("One of these") && !answerable.contains("<b>Nothing</b>"));
        let none = page(&[], json!([{"required": true, "options": []}]), false);
        assert!(!none.contains("Share this") && none.contains("Your wallet can’t answer this"));
    }
}
