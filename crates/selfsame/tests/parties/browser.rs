//! A person's browser, as far as a sign-in needs one: it keeps cookies, follows redirects, and takes the steps of the
//! provider's pages.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use url::Url;

use crate::http::{Reply, Request};
use crate::place::{PERSON, SECRET};

/// The most redirects that it follows.
const HOPS: usize = 20;

/// A browser.
#[derive(Default)]
pub struct PersonsBrowser {
    /// The cookies of each origin.
    cookies: BTreeMap<String, BTreeMap<String, String>>,
}

impl PersonsBrowser {
    /// Opens an address, and signs in wherever the provider asks for that. Returns the page that it ends at.
    pub fn open(&mut self, address: &Url) -> Reply {
        let mut at = address.clone();
        for _ in 0..HOPS {
            let reply = self.send(Request::new("GET", &at), &at);
            let Some(next) = reply.header("location").filter(|_| reply.status / 100 == 3) else {
                return reply;
            };
            let next = at.join(next).unwrap();
            at = match next.path().starts_with("/oidc/sign-in/") {
                true => self.sign_in(&next),
                false => next,
            };
        }
        panic!("{address} leads nowhere");
    }

    /// The person signs in by a one-time password and agrees to everything. Returns the address of the relying party.
    fn sign_in(&mut self, place: &Url) -> Url {
        self.step(place, "otp", &json!({"identifier": PERSON, "phone": true}));
        let challenge = json!({"factor": "otp", "value": SECRET});
        let attempt = json!({"identifier": PERSON, "challenges": [challenge]});
        let shown = self.step(place, "authentication", &attempt);
        let claims = [&shown["essential"], &shown["voluntary"]];
        let claims = claims.into_iter().filter_map(Value::as_array).flatten();
        let claims: Vec<&Value> = claims.collect();
        let agreement = json!({"claims": claims, "scopes": shown["scopes"]});
        let landing = self.step(place, "agreement", &agreement);
        let mut back: Url = landing["redirect_uri"].as_str().unwrap().parse().unwrap();
        let parameters = landing["parameters"].as_object().unwrap();
        for (name, value) in parameters {
            back.query_pairs_mut()
                .append_pair(name, value.as_str().unwrap());
        }
        back
    }

    fn step(&mut self, place: &Url, name: &str, body: &Value) -> Value {
        let at: Url = format!("{place}/{name}").parse().unwrap();
        let origin = at.origin().ascii_serialization();
        let request = Request::new("POST", &at).header("Origin", &origin);
        let reply = self.send(request.json(body), &at);
        assert!(reply.is_success(), "{name}: {reply:?}");
        reply.json()
    }

    fn send(&mut self, request: Request, at: &Url) -> Reply {
        let kept = self.cookies.entry(at.authority().to_owned()).or_default();
        let pairs = kept.iter().map(|(name, value)| format!("{name}={value}"));
        let pairs: Vec<String> = pairs.collect();
        let request = match pairs.is_empty() {
            true => request,
            false => request.header("Cookie", &pairs.join("; ")),
        };
        let reply = request.send().unwrap();
        for set in reply.all("set-cookie") {
            let pair = set.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                kept.insert(name.trim().to_owned(), value.to_owned());
            }
        }
        reply
    }
}
