//! Answering a verifier: who asks, what would leave the wallet, the person's decision, the delivery (OpenID4VP 1.0).

mod delivery;
mod looking;
mod page;
mod remarks;

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_holder::RequestOpener;
use selfsame_holder::refusal;
use selfsame_openid4vc::dcql::{Match, Mismatch, Selection};
use selfsame_openid4vc::holder::selection::{by_policy, explicit};
use selfsame_openid4vc::holder::{
    self, AwaitingConsent, Choice as Chosen, Input, PresentationState,
};
use selfsame_openid4vc::wire::transaction::AskedTransaction;
use selfsame_store::{Page, Put, Tag};
use selfsame_types::{Owner, TypeSet};
use url::Url;

use crate::Wallet;
use crate::cards::CARD;
use crate::quota::Shelf;
use crate::view::{
    AnswerRequest, Answered, Asker, Person, RequestPreview, ShareSet, TransactionFact,
    TransactionText,
};
use delivery::SharedContent;
use looking::{CARDS_MAX, Fitting, shown, types_of};
use selfsame_core::gather::Freshness;
use selfsame_core::organisation::Organisation;
use selfsame_core::view::readable;

pub(crate) use delivery::Answering;

const ASKED: &str = "asked";
/// Maximum number of previewed requests that can be answered.
const NOTED: Shelf = Shelf {
    kind: ASKED,
    most: 100,
};
/// Length of a previewed request's identifier, decoded from base64url.
const ASKED_ID_BYTES: usize = 32;
/// Seconds for which a previewed request can be answered.
const ASKED_SECONDS: u64 = 15 * 60;

/// An authenticated request, and its record if it was previewed.
struct Opened {
    asked: AwaitingConsent,
    noted: Option<Noted>,
}

/// The record of a previewed request.
struct Noted {
    id: String,
    version: u64,
}

impl Wallet {
    /// Previews a request: who asks for what, and what would leave the wallet.
    ///
    /// # Errors
    /// If the request is invalid or can't be fetched.
    pub async fn preview_request(&self, person: &Person, link: &str) -> Result<RequestPreview> {
        let opened = self.asked(person, link).await?;
        self.previewed(person, opened).await
    }

    async fn previewed(&self, person: &Person, opened: Opened) -> Result<RequestPreview> {
        let Opened { asked, noted } = opened;
        let fitting = self.fitting(person, &asked, CARDS_MAX).await?;
        let offer = self.offer_of(&asked, fitting).await?;
        let id = match noted {
            Some(noted) => noted.id,
            None => self.note(person, &asked).await?,
        };
        let selection = &offer.selection;
        Ok(RequestPreview {
            id,
            verifier: self.asker(&asked).await?,
            purpose: asked.request.purpose.as_deref().map(readable),
            transactions: self.transactions_of(&asked)?,
            answerable: offer.is_answerable,
            shares: offer.shares,
            sets: selection.sets.iter().map(ShareSet::of).collect(),
            missing: self.missing(person, &asked, selection).await?,
            remarks: remarks::remarks(&asked),
        })
    }

    /// The transactions of a request, as the person reads them.
    fn transactions_of(&self, asked: &AwaitingConsent) -> Result<Vec<TransactionText>> {
        let all = asked.request.transaction_data.iter();
        let text = |one: &AskedTransaction| {
            let shown = one.lines(&self.transactions).map_err(refusal)?;
            let lines = shown.lines.into_iter().map(|line| TransactionFact {
                label: line.label,
                value: readable(&line.value),
            });
            Ok(TransactionText {
                title: shown.title,
                lines: lines.collect(),
            })
        };
        all.map(text).collect()
    }

    /// Stores a previewed request, so that the answer is to the request that the person saw.
    async fn note(&self, person: &Person, asked: &AwaitingConsent) -> Result<String> {
        let id = self.shared.clock.ctx().token("asked/id");
        let put = Put::new(ASKED, &id, encode(asked)?)
            .expires(self.shared.clock.now().plus(ASKED_SECONDS));
        let batch = self.quotas.room_on(&person.tenant, &NOTED).await?;
        self.shared.store.commit(batch.put(put).deferred()).await?;
        Ok(id)
    }

    /// Answers a verifier with the cards that the person chose, or with those that a policy chooses.
    ///
    /// # Errors
    /// `BadRequest` if no card fits or the choice does not fit; those of the request.
    pub async fn answer_request(
        &self,
        person: &Person,
        answer: &AnswerRequest,
    ) -> Result<Answered> {
        // A link is fetched again each time, and may lead to another request than the one the person agreed to.
        if is_link(&answer.request) && !answer.cards.is_empty() {
            return Err(Error::bad_request("cards-without-preview"));
        }
        let opened = self.asked(person, &answer.request).await?;
        let asked = &opened.asked;
        // A person agrees only to a transaction that they were shown.
        if is_link(&answer.request) && !asked.request.transaction_data.is_empty() {
            return Err(Error::bad_request("transaction-without-preview"));
        }
        let fitting = match answer.cards.is_empty() {
            true => self.fitting(person, asked, 1).await?,
            false => self.named(person, asked, &answer.cards).await?,
        };
        let (selection, fitting) = self.selection(asked, fitting).await?;
        let matches = match answer.policy.as_deref() {
            Some("newest") if answer.cards.is_empty() => match by_policy(&selection) {
                Ok(matches) => matches,
                Err(_) => {
                    let missing = self.missing(person, asked, &selection).await?;
                    return Err(
                        Error::bad_request("cards-missing").with("missing", &missing.join("; "))
                    );
                }
            },
            None | Some("newest") => chosen(&selection, &fitting, &answer.cards)?,
            Some(_) => {
                return Err(Error::bad_request("choice-policy-unknown"));
            }
        };
        let choices: Vec<Chosen<'_>> = matches
            .iter()
            .filter_map(|(query, one)| {
                let fit = fitting.get(one.id)?;
                Some(Chosen {
                    query_id: query,
                    held: &fit.held,
                    reveal: &one.reveal,
                    key: fit.key.as_ref(),
                })
            })
            .collect();
        let shown = shown(&fitting, &matches);
        let ctx = self.shared.clock.ctx();
        let state = PresentationState::Asked(Box::new(asked.clone()));
        let freshness = Freshness { max_status_age: 0 };
        let next = self
            .shared
            .run(&person.tenant, freshness, |evidence| {
                holder::step(&state, Input::Present(&choices), evidence, &ctx).map_err(refusal)
            })
            .await?;
        self.sent(person, &opened, next, shown).await
    }

    /// Tells a verifier that it gets nothing, but not whether the person would not or could not answer.
    ///
    /// # Errors
    /// If the request is invalid or can't be fetched.
    pub async fn decline_request(&self, person: &Person, link: &str) -> Result<Answered> {
        let opened = self.asked(person, link).await?;
        let state = PresentationState::Asked(Box::new(opened.asked.clone()));
        let ctx = self.shared.clock.ctx();
        let next = match holder::step(&state, Input::Decline, &Default::default(), &ctx)
            .map_err(refusal)?
        {
            Step::Done(next) => next,
            Step::Needs(_) => return Err(Error::internal("declining needs nothing")),
        };
        self.sent(person, &opened, next, SharedContent::default())
            .await
    }

    /// The request: a previewed one, or one fetched and authenticated now.
    async fn asked(&self, person: &Person, link: &str) -> Result<Opened> {
        if is_link(link) {
            let asked = self.opener(person).open(link).await?;
            let noted = None;
            return Ok(Opened { asked, noted });
        }
        // Text that never was a preview's id is not an expired request.
        if encoding::base64url_decode(link).map_or(0, |id| id.len()) != ASKED_ID_BYTES {
            return Err(Error::bad_request("request-malformed"));
        }
        let record = self.shared.store.read(&person.tenant, ASKED, link).await?;
        let record = record.ok_or_else(over)?;
        let asked = decode(&record.value)?;
        let noted = Some(Noted {
            id: record.id,
            version: record.version,
        });
        Ok(Opened { asked, noted })
    }

    /// What opens requests to a person.
    #[must_use]
    pub fn opener<'a>(&'a self, person: &'a Person) -> RequestOpener<'a> {
        RequestOpener {
            shared: &self.shared,
            tenant: &person.tenant,
            transport: &self.transport,
            transactions: &self.transactions,
            wire: Some(&self.wire),
            profile: self.profile,
        }
    }

    /// The cards the wallet lacks, in words for the person alone (OpenID4VP 1.0 §15.4.1).
    async fn missing(
        &self,
        person: &Person,
        asked: &AwaitingConsent,
        selection: &Selection<usize>,
    ) -> Result<Vec<String>> {
        let types = self.types_now().await?;
        let mut missing = Vec::new();
        for (id, mismatch) in selection.missing() {
            let query = asked.request.query.credential(id);
            let wanted = query.map(types_of).unwrap_or_default();
            let known = query.is_some_and(|query| query.known_format().is_some());
            let why = match mismatch {
                // Only cards of this type were looked at, and of these only those that have not expired.
                Mismatch::Format if known => match self.has_any(person, &wanted).await? {
                    true => "all cards of this type have another format or have expired".to_owned(),
                    false => Mismatch::Type.to_string(),
                },
                _ => mismatch.to_string(),
            };
            let titled = |name: &'_ String| match types.by_vct(name) {
                Some(one) => one.name().to_owned(),
                None => name.clone(),
            };
            let wanted: Vec<String> = wanted.iter().map(titled).collect();
            missing.push(readable(&format!("{}: {why}", wanted.join(", "))));
        }
        Ok(missing)
    }

    /// The credential types that it knows by their titles.
    async fn types_now(&self) -> Result<Arc<TypeSet>> {
        let Organisation { issuer, base, .. } = &self.organisation;
        let owner = Owner {
            tenant: issuer,
            base,
            samples: true,
        };
        self.types.of(owner).all().await
    }

    /// Whether there is a card of one of these types.
    async fn has_any(&self, person: &Person, types: &[String]) -> Result<bool> {
        for name in types {
            let tag = Tag::hashed("type", name.clone());
            let store = &self.shared.store;
            let page = Page::newest(1);
            let found = store.find(&person.tenant, CARD, &tag, &page).await?;
            if !found.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn asker(&self, asked: &AwaitingConsent) -> Result<Asker> {
        let client_id = asked.request.client_id.clone();
        Ok(Asker {
            trusted: asked.verifier.authenticated && self.trusts_verifier(&client_id),
            client_id,
            name: name(asked),
            logo: self.logo(asked).await?,
            prefix: asked.verifier.prefix.clone(),
            host: host(&asked.request.response_uri),
            authenticated: asked.verifier.authenticated,
        })
    }

    /// The verifier's logo, if its signature vouches for the address.
    async fn logo(&self, asked: &AwaitingConsent) -> Result<Option<String>> {
        let logo = asked.request.metadata.logo_uri.as_ref();
        match logo.filter(|_| asked.verifier.authenticated) {
            Some(logo) => self.own_logo(logo, &asked.request.response_uri).await,
            None => Ok(None),
        }
    }
}

/// The verifier's name for itself.
fn name(asked: &AwaitingConsent) -> Option<String> {
    let name = asked.request.metadata.client_name.as_deref();
    name.map(readable).filter(|name| !name.trim().is_empty())
}

/// Whether this is a request's link rather than the `id` of its preview.
fn is_link(request: &str) -> bool {
    request.contains(':')
}

/// The host, with its port unless that is the default.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn chosen<'s>(
    selection: &'s Selection<usize>,
    fitting: &[Fitting],
    cards: &BTreeMap<String, String>,
) -> Result<Vec<(&'s str, &'s Match<usize>)>> {
    let mut picked = Vec::new();
    for (query, id) in cards {
        let number = fitting
            .iter()
            .position(|fit| fit.card.id == *id)
            .ok_or_else(|| Error::bad_request("card-unfit"))?;
        picked.push((query.as_str(), number));
    }
    explicit(selection, &picked).map_err(refusal)
}

fn over() -> Error {
    Error::new(ErrorKind::Gone, "request-over")
}
