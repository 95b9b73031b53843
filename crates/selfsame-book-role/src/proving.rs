//! Proves an entry to a verifier that asks for it by OpenID4VP: the book is the holder of the credential behind it. An
//! AnonCreds credential is proven by the organisation's agent.

use selfsame_book::BookMapping;
use selfsame_book::entry::EntryRecord;
use selfsame_book_view::ProvenEntry;
use selfsame_core::gather::Freshness;
use selfsame_credential::Held;
use selfsame_credential::format::Format;
use selfsame_driver::{Error, Result};
use selfsame_holder::{RequestOpener, refusal, transport};
use selfsame_openid4vc::dcql::{Mismatch, Selection, select};
use selfsame_openid4vc::holder::selection::{by_policy, candidate};
use selfsame_openid4vc::holder::{
    self, AwaitingConsent, Choice, HolderKey, HolderNext, Input, PresentationState,
};

use crate::books::Book;
use crate::limited::unmapped_claim;

impl Book {
    /// Answers a verifier's request with the credential of an entry, and with those claims of it that the book shows.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if the entry is erased; `BadRequest` if it has no credential, the request is not valid, or asks
    /// for something else; `Upstream` if the verifier can't be reached or does not accept the answer.
    pub async fn prove(&self, credential_id: &str, link: &str) -> Result<ProvenEntry> {
        let (_, entry) = self.entry(credential_id).await?;
        if let Some(held) = &entry.held {
            return self.prove_by_agent(held, link).await;
        }
        let raw = entry.credential.as_ref();
        let raw = raw.ok_or_else(|| Error::bad_request("book-proof-none"))?;
        let held = Held::parse(raw, Format::guess(raw)).map_err(Error::internal)?;
        let transport = transport(self.shared());
        let opener = RequestOpener {
            shared: self.shared(),
            tenant: self.tenant(),
            transport: &transport,
            transactions: &[],
            wire: None,
            profile: None,
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
        let identity = self.roles.identity().ok()?;
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
    match unmapped_claim(&shown, mapping) {
        None => Ok(()),
        Some(claim) => Err(Error::bad_request("book-proof-claims").with("claim", &claim)),
    }
}
