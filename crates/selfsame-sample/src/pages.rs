//! The pages: what the sample learned, and what went wrong.

use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;
use selfsame_oidc::claims::is_of_token;
use selfsame_pages::assets;
use selfsame_sign_in_pages::ended::{ClientLink, SignInErrorPage};
use selfsame_sign_in_pages::sample::{LearnedClaim, LearnedPerson, SampleServicePage};
use selfsame_sign_in_pages::{PageFiles, PageLanguage, PageOrganisation, SignInFrame};
use serde_json::{Map, Value};

use crate::visits::LearnedVisit;

/// How a page is to be shown.
pub struct Showing<'a> {
    /// The name of the provider's organisation.
    pub provider: &'a str,
    /// The language that was chosen on the page.
    pub chosen: Option<String>,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
}

impl Showing<'_> {
    /// The language of the page.
    pub fn language(&self) -> &'static PageLanguage {
        let wanted: Vec<String> = self.chosen.iter().cloned().collect();
        let accepted = self.headers.get(ACCEPT_LANGUAGE);
        PageLanguage::best(&wanted, accepted.and_then(|value| value.to_str().ok()))
    }

    fn frame(&self, address: &str) -> SignInFrame {
        SignInFrame {
            language: self.language(),
            files: PageFiles {
                style: assets::url("app.css"),
                colours: None,
                script: assets::url("app.js"),
                icon: assets::url("mark.svg"),
            },
            organisation: PageOrganisation {
                title: self.provider.to_owned(),
                ..PageOrganisation::default()
            },
            form: String::new(),
            address: address.to_owned(),
        }
    }

    /// The page, before and after the sign-in.
    pub fn page(&self, learned: Option<&LearnedVisit>) -> SampleServicePage {
        SampleServicePage {
            frame: self.frame("/"),
            begin: format!("/begin?ui_locales={}", self.language().tag()),
            learned: learned.map(person),
        }
    }

    /// The page of a sign-in that did not work.
    pub fn failed(&self, message: &str) -> SignInErrorPage {
        let frame = self.frame("");
        SignInErrorPage {
            told: frame.say(message),
            back: Some(ClientLink {
                client: frame.say("sample-title").to_string(),
                href: "/".to_owned(),
            }),
            frame,
        }
    }
}

fn person(learned: &LearnedVisit) -> LearnedPerson {
    let subject = learned.token.get("sub").map(text).unwrap_or_default();
    LearnedPerson {
        subject,
        claims: claims(&learned.claims),
        token: serde_json::to_string_pretty(&learned.token).unwrap_or_default(),
        sign_out: "/sign-out".to_owned(),
    }
}

/// The claims about the person.
fn claims(all: &Map<String, Value>) -> Vec<LearnedClaim> {
    let about_person = |(name, _): &(&String, &Value)| !is_of_token(name);
    let claims = all.iter().filter(about_person);
    claims
        .map(|(name, value)| LearnedClaim {
            name: name.clone(),
            value: text(value),
        })
        .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_shows_the_claims_of_the_person_in_their_language() {
        let Value::Object(token) = json!({"iss": "https://id.example", "sub": "s1", "nonce": "n"})
        else {
            panic!("an object");
        };
        let Value::Object(claims) =
            json!({"sub": "s1", "iss": "x", "email": "<b>@example.org", "email_verified": true})
        else {
            panic!("an object");
        };
        let learned = LearnedVisit {
            token,
            claims,
            id_token: "a.b.c".to_owned(),
        };
        let headers = HeaderMap::new();
        let showing = Showing {
            provider: "Clinic",
            chosen: Some("ar".to_owned()),
            headers: &headers,
        };
        let page = showing.page(Some(&learned));
        let html = selfsame_sign_in_pages::render(&page).unwrap();
        assert!(
            html.contains("dir=\"rtl\"") && html.contains("s1"),
            "{html}"
        );
        assert!(html.contains("&#60;b&#62;@example.org") && !html.contains("a.b.c"));
        let shown = page.learned.unwrap().claims;
        assert_eq!(
            shown
                .iter()
                .map(|one| one.name.as_str())
                .collect::<Vec<_>>(),
            ["email", "email_verified"]
        );
    }
}
