//! The rules of an organisation for signing in with a credential: which ones, by whom, and what their claims mean.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::{encoding, hash};
use selfsame_driver::{Error, Result};
use selfsame_oidc::claims::is_of_token;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::desk::{ShownCredential, WantedCredential, WantedPresentation};

/// Credentials that one organisation accepts.
const CREDENTIALS_MAX: usize = 16;
/// Claims of one credential.
const CLAIMS_MAX: usize = 64;
/// Claims that one credential may lack: a query lists each choice of them.
const OPTIONAL_MAX: usize = 4;
/// Characters of a title.
const TITLE_MAX: usize = 120;
/// Bytes of the value that tells people apart.
const SUBJECT_MAX: usize = 512;
/// The rules of an organisation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PresentationRules {
    /// What the credential is for, as the wallet shows it; at most 300 characters.
    pub purpose: String,
    /// Whether the wallet may be on another device than the browser.
    #[serde(default = "yes")]
    pub other_device: bool,
    /// The credentials, of which one suffices; at most 16.
    pub credentials: Vec<AcceptedCredential>,
}

/// A credential that people sign in with.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedCredential {
    /// Its title on the page.
    pub title: String,
    /// Its type: the `vct`, or the most specific W3C type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its format; the usual one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The issuers to accept it from: DIDs, issuer URLs, or names of certificates. They must be trusted besides.
    pub issuers: Vec<String>,
    /// The path of the claim that tells the people of one issuer apart.
    pub subject: Vec<String>,
    /// The paths of further claims, by the names that clients know them by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, Vec<String>>,
    /// Those of the further claims that a credential may lack; at most 4.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub optional: BTreeSet<String>,
}

/// A person, as a credential names them.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentedPerson {
    /// The handle.
    pub handle: String,
    /// The claims, by the names that clients know them by.
    pub claims: Map<String, Value>,
}

impl PresentationRules {
    /// What a wallet is asked for.
    #[must_use]
    pub fn wanted(&self) -> WantedPresentation {
        let numbered = self.credentials.iter().enumerate();
        WantedPresentation {
            purpose: self.purpose.clone(),
            credentials: numbered.map(|(place, one)| one.wanted(place)).collect(),
        }
    }

    /// The person whom a credential names. The verifier has found that it is valid, and of an accepted issuer.
    #[must_use]
    pub fn person(&self, shown: &ShownCredential) -> Option<PresentedPerson> {
        let mut numbered = self.credentials.iter().enumerate();
        let (_, rule) = numbered.find(|(place, _)| query_id(*place) == shown.query)?;
        let issuer = match (&shown.issuer, rule.issuers.as_slice()) {
            (Some(issuer), _) => issuer,
            // A certificate is accepted by its name alone.
            (None, [only]) => only,
            (None, _) => return None,
        };
        let subject = match at(&shown.claims, &rule.subject)? {
            Value::String(text) => text.clone(),
            Value::Number(number) if !number.is_f64() => number.to_string(),
            _ => return None,
        };
        if subject.is_empty() || subject.len() > SUBJECT_MAX {
            return None;
        }
        // What one issuer calls somebody means nothing at another one, nor in another type.
        let named = json!(["presentation", issuer, rule.kind, subject]).to_string();
        let claims = rule.claims.iter().filter_map(|(name, path)| {
            let value = at(&shown.claims, path)?;
            Some((name.clone(), value.clone()))
        });
        Some(PresentedPerson {
            handle: encoding::base64url_encode(&hash::sha256(named.as_bytes())),
            claims: claims.collect(),
        })
    }

    /// Refuses rules that can't mean anything.
    ///
    /// # Errors
    /// `BadRequest`.
    pub(super) fn check(&self) -> Result<()> {
        let count = self.credentials.len();
        if !(1..=CREDENTIALS_MAX).contains(&count) {
            return Err(
                Error::bad_request("sign-in-wallet-credentials").with("maximum", &CREDENTIALS_MAX)
            );
        }
        let mut kinds = BTreeSet::new();
        for one in &self.credentials {
            one.check()?;
            if !kinds.insert(&one.kind) {
                return Err(Error::bad_request("sign-in-wallet-type-twice").with("type", &one.kind));
            }
        }
        Ok(())
    }
}

impl AcceptedCredential {
    fn wanted(&self, place: usize) -> WantedCredential {
        let mut paths: Vec<&Vec<String>> = vec![&self.subject];
        paths.extend(self.claims.values());
        paths.sort();
        paths.dedup();
        WantedCredential {
            id: query_id(place),
            kind: self.kind.clone(),
            format: self.format.clone(),
            issuers: self.issuers.clone(),
            choices: self.choices(&paths),
            paths: paths.into_iter().cloned().collect(),
        }
    }

    /// The choices of paths with which a credential will do, by their numbers, the largest first.
    fn choices(&self, paths: &[&Vec<String>]) -> Vec<Vec<usize>> {
        let needed: BTreeSet<&Vec<String>> = self
            .claims
            .iter()
            .filter(|(name, _)| !self.optional.contains(*name))
            .map(|(_, path)| path)
            .chain([&self.subject])
            .collect();
        let mut choices = vec![Vec::new()];
        for (number, path) in paths.iter().enumerate() {
            let without = match needed.contains(path) {
                true => Vec::new(),
                false => choices.clone(),
            };
            choices.iter_mut().for_each(|one| one.push(number));
            choices.extend(without);
        }
        choices.sort_by_key(|one| std::cmp::Reverse(one.len()));
        choices
    }

    fn check(&self) -> Result<()> {
        let title = self.title.trim();
        if title.is_empty() || title.chars().nth(TITLE_MAX).is_some() || self.kind.is_empty() {
            return Err(Error::bad_request("sign-in-wallet-title").with("type", &self.kind));
        }
        let is_known = |name: &String| self.claims.contains_key(name);
        let many = self.claims.len() > CLAIMS_MAX || self.optional.len() > OPTIONAL_MAX;
        if many || !self.optional.iter().all(is_known) {
            return Err(Error::bad_request("sign-in-wallet-claims").with("type", &self.kind));
        }
        if let Some(name) = self.claims.keys().find(|name| !may_be_named(name)) {
            return Err(Error::bad_request("sign-in-wallet-claim-name").with("claim", name));
        }
        let mut paths = self.claims.values().chain([&self.subject]);
        if paths.any(|path| path.is_empty() || path.iter().any(String::is_empty)) {
            return Err(Error::bad_request("sign-in-wallet-path").with("type", &self.kind));
        }
        Ok(())
    }
}

/// Whether a claim may be taken from a credential.
fn may_be_named(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    let fits = (1..=100).contains(&name.len()) && name.bytes().all(is_plain);
    // `c_hash` is of tokens that this provider does not issue (OpenID Connect Core §3.3.2.11).
    fits && !is_of_token(name) && name != "c_hash"
}

fn query_id(place: usize) -> String {
    format!("c{place}")
}

fn at<'v>(claims: &'v Value, path: &[String]) -> Option<&'v Value> {
    let mut parts = path.iter();
    parts.try_fold(claims, |value, part| value.get(part))
}

const fn yes() -> bool {
    true
}
