//! Answering a verifier: who asks, what would leave the wallet, the person's decision, the delivery (OpenID4VP 1.0).

pub(super) mod delivery;
mod opening;

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_credential::Held;
use selfsame_credential::dcql::{
    self, CredentialQuery, Match, Meta, Mismatch, QueryMatches, Selection,
};
use selfsame_credential::evidence::Step;
use selfsame_credential::single_use::HANDLE;
use selfsame_crypto::encoding;
use selfsame_openid4vc::holder::selection::{by_policy, candidate, explicit};
use selfsame_openid4vc::holder::{
    self, Asked, Choice as Chosen, HolderKey, Input, State, response,
};
use selfsame_store::{Batch, Page, Put, Record, Tag};
use url::Url;

use super::Wallet;
use super::cards::{CARD, CardRecord};
use crate::accounts::{decode, encode};
use crate::error::{Error, ErrorKind, Result};
use crate::gather::Freshness;
use crate::issuer::metadata::vct;
use crate::view::issuer::Template;
use crate::view::readable;
use crate::view::wallet::{
    AnswerRequest, Answered, Asker, Choice, OneUse, Person, RequestPreview, Share, ShareSet,
};
use delivery::Shown;

pub(crate) use delivery::abandoned;

const ASKED: &str = "asked";
/// The identifiers of requests that were looked at, undone from base64url.
const ASKED_ID_BYTES: usize = 32;
/// A request that was looked at can be answered for so long.
const ASKED_SECONDS: u64 = 15 * 60;
/// So many cards are offered for one query, the newest first.
const CARDS_MAX: usize = 24;
/// So many cards of one type are looked through for them.
const CARDS_LOOKED_THROUGH: usize = 1_000;

/// A card that may answer, with its credential read.
struct Fitting {
    card: CardRecord,
    held: Held,
    /// The key it is presented with.
    key: Option<HolderKey>,
    /// Whether it matches the query it was found for, and the verifier can check it.
    good: bool,
}

/// A request that was looked at before, by its identifier and version.
type Noted = (String, u64);

impl Wallet {
    /// Who asks what, and what would leave the wallet.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub async fn preview_request(&self, person: &Person, link: &str) -> Result<RequestPreview> {
        let (asked, noted) = self.asked(person, link).await?;
        let fitting = self.fitting(person, &asked, CARDS_MAX).await?;
        let selection = selected(&asked, &fitting);
        let id = match noted {
            Some((id, _)) => id,
            None => self.note(person, &asked).await?,
        };
        let preferred = by_policy(&selection).ok();
        let is_an_option = |query: &str| {
            let mut options = selection.sets.iter().flat_map(|set| &set.options);
            options.any(|option| option.iter().any(|id| id == query))
        };
        let share = |query: &CredentialQuery| {
            let preferred = preferred.as_ref()?;
            let found = selection
                .query(&query.id)
                .filter(|_| is_an_option(&query.id))?;
            Some(Share {
                query: query.id.clone(),
                required: selection.is_required(&query.id),
                preselected: preferred.iter().any(|(id, _)| *id == query.id),
                choices: found
                    .matches
                    .iter()
                    .filter_map(|one| choice(&fitting, one))
                    .collect(),
            })
        };
        let queries = asked.request.query.credentials();
        Ok(RequestPreview {
            id,
            verifier: self.asker(&asked),
            answerable: preferred.is_some(),
            shares: queries.iter().filter_map(share).collect(),
            sets: selection.sets.iter().map(ShareSet::of).collect(),
            missing: self.missing(person, (&asked, &selection)).await?,
            remarks: opening::remarks(&asked),
        })
    }

    /// Keeps a request that is looked at, for the answer to be to what was seen.
    async fn note(&self, person: &Person, asked: &Asked) -> Result<String> {
        let id = self.shared.clock.ctx().token("asked/id");
        let put = Put::new(ASKED, &id, encode(asked)?)
            .expires(self.shared.clock.now().plus(ASKED_SECONDS));
        let batch = Batch::new(person.tenant.clone()).put(put).deferred();
        self.shared.store.commit(batch).await?;
        Ok(id)
    }

    /// Answers a verifier: by the person's choice of cards, or by a policy in place of a person.
    ///
    /// # Errors
    /// `BadRequest` if nothing fits or the choice does not; what is wrong with the request.
    pub async fn answer_request(
        self: &Arc<Self>,
        person: &Person,
        answer: &AnswerRequest,
    ) -> Result<Answered> {
        // A link is fetched anew each time, and may lead to another request than the one the person has agreed to.
        if is_link(&answer.request) && !answer.cards.is_empty() {
            return Err(
                Error::bad_request("cards are chosen for a request that was looked at")
                    .with_hint("preview the link and answer with the preview's `id`"),
            );
        }
        let (asked, noted) = self.asked(person, &answer.request).await?;
        let fitting = match answer.cards.is_empty() {
            true => self.fitting(person, &asked, 1).await?,
            false => self.named(person, &asked, &answer.cards).await?,
        };
        let selection = selected(&asked, &fitting);
        let matches = match answer.policy.as_deref() {
            Some("newest") if answer.cards.is_empty() => match by_policy(&selection) {
                Ok(matches) => matches,
                Err(_) => {
                    let missing = self.missing(person, (&asked, &selection)).await?;
                    let reason = "this wallet has nothing that answers the request";
                    return Err(Error::bad_request(reason).with_hint(missing.join("; ")));
                }
            },
            None | Some("newest") => chosen(&selection, &fitting, &answer.cards)?,
            Some(_) => {
                return Err(Error::bad_request("there is no such policy")
                    .with_hint("the one there is: newest"));
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
        let state = State::Asked(asked.clone());
        let freshness = Freshness { max_status_age: 0 };
        let next = self
            .shared
            .run(&person.tenant, freshness, |evidence| {
                holder::step(&state, Input::Present(&choices), evidence, &ctx)
            })
            .await?;
        self.sent(person, (&asked, noted), next, shown).await
    }

    /// Tells a verifier that it gets nothing; not whether the person would not or could not.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub async fn decline_request(
        self: &Arc<Self>,
        person: &Person,
        link: &str,
    ) -> Result<Answered> {
        let (asked, noted) = self.asked(person, link).await?;
        let state = State::Asked(asked.clone());
        let ctx = self.shared.clock.ctx();
        let next = match holder::step(&state, Input::Decline, &Default::default(), &ctx)? {
            Step::Done(next) => next,
            Step::Needs(_) => return Err(Error::internal("declining needs nothing")),
        };
        self.sent(person, (&asked, noted), next, Shown::default())
            .await
    }

    /// The request: one looked at before, or fetched and authenticated now.
    async fn asked(&self, person: &Person, link: &str) -> Result<(Asked, Option<Noted>)> {
        if is_link(link) {
            return Ok((self.opened(person, link).await?, None));
        }
        // What no preview was ever called is not over.
        if encoding::base64url_decode(link).map_or(0, |id| id.len()) != ASKED_ID_BYTES {
            let reason = "this is neither a request's link nor the `id` of its preview";
            return Err(
                Error::bad_request(reason).with_hint("links of requests begin with openid4vp://")
            );
        }
        let record = self.shared.store.read(&person.tenant, ASKED, link).await?;
        let record = record.ok_or_else(over)?;
        let noted = (record.id, record.version);
        Ok((decode(&record.value)?, Some(noted)))
    }

    /// Cards that may answer: for each query the newest that are good for it, so many at most, before some others
    /// that tell what is missing.
    async fn fitting(&self, person: &Person, asked: &Asked, most: usize) -> Result<Vec<Fitting>> {
        let mut fitting: Vec<Fitting> = Vec::new();
        for query in asked.request.query.credentials() {
            for name in types_of(query) {
                let tag = Tag::hashed("type", name);
                let mut page = Page::newest(most);
                let (mut looked_through, mut good, mut others) = (0, 0, 0);
                loop {
                    let store = &self.shared.store;
                    let records = store.find(&person.tenant, CARD, &tag, &page).await?;
                    looked_through += records.len();
                    for record in &records {
                        let Some(fit) = self.fit(person, (asked, query), record).await? else {
                            continue;
                        };
                        let counted = if fit.good { &mut good } else { &mut others };
                        *counted += 1;
                        // It may have been found for another query.
                        match fitting
                            .iter_mut()
                            .find(|known| known.card.id == fit.card.id)
                        {
                            Some(known) if known.key.is_none() || fit.good => *known = fit,
                            Some(_) => {}
                            None if *counted <= CARDS_MAX => fitting.push(fit),
                            None => {}
                        }
                    }
                    match records.last() {
                        Some(last) if good < most && looked_through < CARDS_LOOKED_THROUGH => {
                            page = Page::newest(CARDS_MAX).after(last.cursor());
                        }
                        _ => break,
                    }
                }
            }
        }
        fitting.sort_by_key(|fit| !fit.good);
        Ok(fitting)
    }

    /// What the wallet has not, in words for the person alone (OpenID4VP 1.0 §15.4.1).
    async fn missing(
        &self,
        person: &Person,
        (asked, selection): (&Asked, &Selection<usize>),
    ) -> Result<Vec<String>> {
        let mut missing = Vec::new();
        for (id, mismatch) in selection.missing() {
            let query = asked.request.query.credential(id);
            let wanted = query.map(types_of).unwrap_or_default();
            let known = query.is_some_and(|query| query.known_format().is_some());
            let why = match mismatch {
                // Only cards of the type were looked at, and of these only such as have not expired.
                Mismatch::Format if known => match self.has_any(person, &wanted).await? {
                    true => "all cards of this type have another format or have expired".to_owned(),
                    false => Mismatch::Type.to_string(),
                },
                _ => mismatch.to_string(),
            };
            let wanted: Vec<&str> = wanted.iter().map(|name| self.known_name(name)).collect();
            missing.push(readable(&format!("{}: {why}", wanted.join(", "))));
        }
        Ok(missing)
    }

    /// What people call a type of card, where it is one of ours.
    fn known_name<'n>(&self, name: &'n str) -> &'n str {
        let is_named = |template: &&Template| vct(&self.shared.config, template) == name;
        let template = crate::templates::all().iter().find(is_named);
        template.map_or(name, |template| template.title.as_str())
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

    /// The cards that a person named, by query.
    async fn named(
        &self,
        person: &Person,
        asked: &Asked,
        cards: &BTreeMap<String, String>,
    ) -> Result<Vec<Fitting>> {
        let mut named = Vec::new();
        for (query, id) in cards {
            let Some(query) = asked.request.query.credential(query) else {
                continue;
            };
            if let Some(record) = self.shared.store.read(&person.tenant, CARD, id).await? {
                named.extend(self.fit(person, (asked, query), &record).await?);
            }
        }
        Ok(named)
    }

    /// The card with what it is presented with; none if it has expired or is of another format.
    async fn fit(
        &self,
        person: &Person,
        (asked, query): (&Asked, &CredentialQuery),
        record: &Record,
    ) -> Result<Option<Fitting>> {
        let card = CardRecord::read(record)?;
        let now = self.shared.clock.now();
        if query.known_format() != Some(card.format)
            || card.expires.is_some_and(|expires| expires <= now)
        {
            return Ok(None);
        }
        let held = card.held()?;
        let matches = dcql::mismatch(query, &candidate(&held, card.key.is_some())).is_none();
        let key = match matches {
            true => self.holder_key(person, &card, &held).await?,
            false => None,
        };
        let proof = key
            .as_ref()
            .filter(|_| query.require_cryptographic_holder_binding);
        let good = matches && response::can_be_checked(&asked.request, (&held, proof)).is_ok();
        Ok(Some(Fitting {
            card,
            held,
            key,
            good,
        }))
    }

    /// The key that a card is bound to, and the name it goes by.
    async fn holder_key(
        &self,
        person: &Person,
        card: &CardRecord,
        held: &Held,
    ) -> Result<Option<HolderKey>> {
        let Some(key) = &card.key else {
            return Ok(None);
        };
        let kid = match (&card.kid, held.holder_did()) {
            (Some(kid), _) => Some(kid.clone()),
            // A key without a name was turned into a did:jwk by the issuer of a W3C credential.
            (None, Some(did)) => Some(crate::identity::kid_of(
                &selfsame_did::Did::parse(did).map_err(Error::internal)?,
            )),
            (None, None) => None,
        };
        let private = self.shared.keys.unsealed(&person.tenant, key).await?;
        Ok(Some(HolderKey {
            key: key.clone(),
            algorithm: private.algorithm(),
            kid,
        }))
    }

    fn asker(&self, asked: &Asked) -> Asker {
        let client_id = asked.request.client_id.clone();
        Asker {
            trusted: asked.verifier.authenticated && self.shared.trusts_verifier(&client_id),
            client_id,
            prefix: asked.verifier.prefix.clone(),
            host: host(&asked.request.response_uri),
            authenticated: asked.verifier.authenticated,
        }
    }
}

/// Whether this is a request's link, and not the `id` of its preview.
fn is_link(request: &str) -> bool {
    request.contains(':')
}

/// The host with its port, where that is not the usual one.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn selected(asked: &Asked, fitting: &[Fitting]) -> Selection<usize> {
    let candidates: Vec<_> = fitting
        .iter()
        .enumerate()
        .map(|(number, fit)| (number, candidate(&fit.held, fit.card.key.is_some())))
        .collect();
    let mut selection = dcql::select(&asked.request.query, &candidates);
    // The verifier's order is a wish (OpenID4VP 1.0 §6.2): of alternatives one that uses a card up comes last.
    let uses_up = |found: &QueryMatches<usize>| {
        let first = found.matches.first();
        first
            .and_then(|one| choice(fitting, one))
            .is_some_and(|choice| choice.uses_up)
    };
    if selection.sets.iter().any(|set| set.options.len() > 1) {
        let spent = selection.queries.iter().filter(|found| uses_up(found));
        let spent: Vec<&str> = spent.map(|found| found.query.as_str()).collect();
        for set in &mut selection.sets {
            set.options
                .sort_by_key(|option| option.iter().any(|id| spent.contains(&id.as_str())));
        }
    }
    selection
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
            .ok_or_else(|| Error::bad_request("a card was chosen that does not fit the request"))?;
        picked.push((query.as_str(), number));
    }
    Ok(explicit(selection, &picked)?)
}

/// What the history will tell of cards that are shown.
fn shown(fitting: &[Fitting], matches: &[(&str, &Match<usize>)]) -> Shown {
    let mut shown = Shown::default();
    for (_, one) in matches {
        let (Some(fit), Some(choice)) = (fitting.get(one.id), choice(fitting, one)) else {
            continue;
        };
        if choice.uses_up {
            let place = super::cards::single_use(&fit.held);
            shown.one_use.extend(place.map(OneUse::of));
        }
        shown.cards.push(choice.title);
        let labels = choice.claims.into_iter().map(|claim| claim.label);
        shown.claims.extend(labels);
    }
    shown
}

/// A card as it would be shown: with what its issuer always shows, and of the rest what was asked.
fn choice(fitting: &[Fitting], one: &Match<usize>) -> Option<Choice> {
    let fit = fitting.get(one.id)?;
    let claims = match fit.held.sd_jwt() {
        Some(sd_jwt) if !one.whole => {
            let shown = sd_jwt.present(&one.reveal).ok()?.unbound();
            fit.card
                .all_lines(&Held::parse(&shown, fit.card.format).ok()?)
        }
        _ => fit.card.all_lines(&fit.held),
    };
    let summary = fit.card.summary();
    Some(Choice {
        card: fit.card.id.clone(),
        title: summary.display.title,
        issuer_name: summary.issuer_name,
        issuer: fit.card.issuer.clone(),
        uses_up: claims.iter().any(|claim| claim.path == [HANDLE]),
        claims,
    })
}

/// Types of which a card that answers the query has one at least.
fn types_of(query: &CredentialQuery) -> Vec<String> {
    match &query.meta {
        Meta::SdJwtVc { vct_values } => vct_values.clone(),
        Meta::W3c { type_values } => type_values
            .iter()
            .filter_map(|types| dcql::narrowest_type(types).map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

fn over() -> Error {
    Error::new(
        ErrorKind::Gone,
        "this request was answered, or looked at too long ago",
    )
    .with_hint("the history says whether it was answered; if not, open its link again")
}
