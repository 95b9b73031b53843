//! Proves an entry to a verifier that asks for it by OpenID4VP: the book is the holder of the credential behind it.

use selfsame_book::BookMapping;
use selfsame_book::entry::EntryRecord;
use selfsame_book_view::ProvenEntry;
use selfsame_core::gather::Freshness;
use selfsame_credential::Held;
use selfsame_credential::format::Format;
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::dcql::{Mismatch, Selection, select};
use selfsame_openid4vc::holder::selection::{by_policy, candidate};
use selfsame_openid4vc::holder::{
    self, AwaitingConsent, Choice, HolderKey, HolderNext, Input, PresentationState,
};
use selfsame_wallet::{RequestOpener, refusal, transport};
use serde_json::{Map, Value};

use crate::books::Book;

/// Members of a credential that are not about its topic (SD-JWT VC §3.2.2.2; RFC 7519 §4.1).
const NOT_CLAIMS: [&str; 12] = [
    "_sd",
    "_sd_alg",
    "aud",
    "cnf",
    "exp",
    "iat",
    "iss",
    "jti",
    "nbf",
    "status",
    "vct",
    "vct#integrity",
];

impl Book {
    /// Answers a verifier's request with the credential of an entry, and with those claims of it that the book shows.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if the entry is erased; `BadRequest` if it has no credential, the request is not valid, or asks
    /// for something else; `Upstream` if the verifier can't be reached or does not accept the answer.
    pub async fn prove(&self, credential_id: &str, link: &str) -> Result<ProvenEntry> {
        let (_, entry) = self.entry(credential_id).await?;
        let raw = entry.credential.as_ref();
        let raw = raw.ok_or_else(|| Error::bad_request("book-proof-none"))?;
        let held = Held::parse(raw, Format::guess(raw)).map_err(Error::internal)?;
        let transport = transport(self.shared());
        let opener = RequestOpener {
            shared: self.shared(),
            tenant: self.tenant(),
            transport: &transport,
            transactions: &[],
        };
        let asked = opener.open(link).await?;
        let answer = self.presentation(&entry, &held, asked).await?;
        let done = opener.deliver(answer).await?;
        Ok(ProvenEntry {
            redirect_uri: done.redirect_uri.map(String::from),
        })
    }

    async fn presentation(
        &self,
        entry: &EntryRecord,
        held: &Held,
        asked: AwaitingConsent,
    ) -> Result<HolderNext> {
        let types = self.types().await?;
        let unmapped = || Error::bad_request("book-type-unmapped").with("type", &entry.type_id);
        let one = types.newest(&entry.type_id);
        let mapping = one
            .and_then(|one| one.book.as_deref())
            .ok_or_else(unmapped)?;
        let key = self.key_of(held);
        let candidates = [((), candidate(held, key.is_some()))];
        let selection = select(&asked.request.query, &candidates);
        let matches = by_policy(&selection).map_err(|_| unfit(&selection))?;
        let choices: Vec<Choice<'_>> = matches
            .iter()
            .map(|(query_id, one)| Choice {
                query_id,
                held,
                reveal: &one.reveal,
                key: key.as_ref(),
            })
            .collect();
        for choice in &choices {
            is_public(choice, mapping)?;
        }
        let state = PresentationState::Asked(Box::new(asked.clone()));
        let ctx = self.shared().clock.ctx();
        let freshness = Freshness { max_status_age: 0 };
        let step = self.shared().run(self.tenant(), freshness, |evidence| {
            holder::step(&state, Input::Present(&choices), evidence, &ctx).map_err(refusal)
        });
        step.await
    }

    /// The key of the organisation, if the credential is bound to it.
    fn key_of(&self, held: &Held) -> Option<HolderKey> {
        let identity = self.roles.issuer().ok()?.identity();
        let is_bound = held.holder_key().as_ref() == Some(identity.public());
        is_bound.then(|| HolderKey {
            key: identity.key().clone(),
            algorithm: identity.algorithm(),
            kid: Some(identity.kid().to_owned()),
        })
    }
}

/// Why a request can't be answered with this credential.
fn unfit(selection: &Selection<()>) -> Error {
    let mut missing = selection.missing();
    match missing.next() {
        Some((_, Mismatch::HolderBinding)) => Error::bad_request("book-proof-binding"),
        Some((_, mismatch)) => Error::bad_request("book-proof-unfit").with("detail", mismatch),
        None => Error::bad_request("book-proof-unfit").with("detail", &Mismatch::Format),
    }
}

/// Refuses to present claims that the book does not show.
fn is_public(choice: &Choice<'_>, mapping: &BookMapping) -> Result<()> {
    let held = choice.held;
    let shown = match held.sd_jwt() {
        Some(sd_jwt) => {
            let shown = sd_jwt.present(choice.reveal).map_err(Error::internal)?;
            Held::parse(&shown.unbound(), held.format).map_err(Error::internal)?
        }
        None => held.clone(),
    };
    let all = shown.claims();
    let subject = all.get("credentialSubject").unwrap_or(all);
    let paths: Vec<&[String]> = mapping
        .claims()
        .into_iter()
        .map(|(_, path)| &path[..])
        .collect();
    let Some(members) = subject.as_object() else {
        return Err(Error::bad_request("book-proof-claims").with("claim", "credentialSubject"));
    };
    match hidden(members, &paths, &mut Vec::new()) {
        None => Ok(()),
        Some(claim) => Err(Error::bad_request("book-proof-claims").with("claim", &claim)),
    }
}

/// The first claim that no path leads to.
fn hidden<'a>(
    members: &'a Map<String, Value>,
    paths: &[&[String]],
    above: &mut Vec<&'a str>,
) -> Option<String> {
    for (name, value) in members {
        let is_outermost = above.is_empty();
        if is_outermost && (NOT_CLAIMS.contains(&name.as_str()) || name == "id") {
            continue;
        }
        above.push(name);
        let leads_here = |path: &&[String]| path.iter().eq(above.iter());
        let found = match value.as_object() {
            _ if paths.iter().any(leads_here) => None,
            Some(inner) => hidden(inner, paths, above),
            None => Some(above.join(".")),
        };
        above.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_claims_of_the_mapping_are_presented() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        let paths = [path("number"), path("address.city")];
        let paths: Vec<&[String]> = paths.iter().map(|path| &path[..]).collect();
        let first = |claims: Value| hidden(claims.as_object().unwrap(), &paths, &mut Vec::new());
        for shown in [
            json!({}),
            json!({"iss": "did:example:1", "iat": 1, "vct": "x", "number": "1"}),
            json!({"number": {"any": "thing"}, "address": {"city": "Victoria"}}),
        ] {
            assert_eq!(first(shown.clone()), None, "{shown}");
        }
        for (kept, claim) in [
            (json!({"director": "Ada"}), "director"),
            (json!({"sub": "did:example:ada"}), "sub"),
            (
                json!({"address": {"city": "Victoria", "street": "1 Main"}}),
                "address.street",
            ),
            (json!({"address": {"iat": 1}}), "address.iat"),
            (json!({"address": "1 Main Street, Victoria"}), "address"),
            (json!({"address": ["1 Main Street"]}), "address"),
        ] {
            assert_eq!(first(kept.clone()).as_deref(), Some(claim), "{kept}");
        }
    }
}
