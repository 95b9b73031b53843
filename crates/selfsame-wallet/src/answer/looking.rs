//! Looks through a wallet's cards for those that answer a request. A card is read once for a request, and limits hold
//! for everything read, matched and shown together, since a verifier chooses the queries and an issuer the cards. Large
//! jobs run off the threads that serve requests.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use selfsame_credential::single_use::HANDLE;
use selfsame_credential::{ClaimPath, Held};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::dcql::{
    self, CredentialQuery, DcqlQuery, Match, Meta, QueryMatches, Selection,
};
use selfsame_openid4vc::holder::selection::{by_policy, candidate};
use selfsame_openid4vc::holder::{AwaitingConsent, HolderKey, response};
use selfsame_store::{Page, Record, Tag};
use serde_json::Value;

use super::delivery::SharedContent;
use crate::Wallet;
use crate::cards::{CARD, CardRecord, single_use, tags};
use crate::history::one_use;
use crate::view::{Choice, Person, Share};

/// Maximum number of cards offered for one query, newest first.
pub(super) const CARDS_MAX: usize = 24;
/// Maximum number of cards of one type that are looked through for them.
const CARDS_LOOKED_THROUGH: usize = 1_000;
/// Maximum number of cards kept for all queries together.
const FITTING_MAX: usize = 256;
/// Bytes of memory for the cards that are read for one request.
const READ_BYTES: usize = 16 << 20;
/// Bytes of cards that are matched with queries for one request; a card counts again for each query.
const MATCHED_BYTES: usize = 32 << 20;
/// Bytes of cards that are shown for one request, besides the first of each query.
const SHOWN_BYTES: usize = 4 << 20;

/// Bytes of cards that are read on the current thread: less than a millisecond's work.
const AT_ONCE_BYTES: usize = 32 << 10;

/// A card that may answer, with its parsed credential.
pub(super) struct Fitting {
    pub card: Arc<CardRecord>,
    pub held: Arc<Held>,
    /// The key it is presented with.
    pub key: Option<HolderKey>,
    /// Whether it matches the query it was found for, and the verifier can check it.
    good: bool,
}

/// The contents of a preview.
pub(super) struct PreviewContents {
    pub selection: Selection<usize>,
    pub is_answerable: bool,
    pub shares: Vec<Share>,
}

/// The cards that were read for a request, and the budget left.
struct Look {
    read: HashMap<String, Option<ReadCard>>,
    unread_bytes: usize,
    unmatched_bytes: usize,
}

/// A card and its credential.
#[derive(Clone)]
struct ReadCard {
    card: Arc<CardRecord>,
    held: Arc<Held>,
}

impl Look {
    fn new() -> Self {
        Self {
            read: HashMap::new(),
            unread_bytes: READ_BYTES,
            unmatched_bytes: MATCHED_BYTES,
        }
    }

    fn is_over(&self) -> bool {
        self.unread_bytes == 0 || self.unmatched_bytes == 0
    }

    /// The cards that have the query's format, with whether they match it. Each is read once; no card is read once the
    /// request's budget is spent.
    fn matched(
        &mut self,
        query: &CredentialQuery,
        cards: Vec<CardRecord>,
    ) -> Vec<(ReadCard, bool)> {
        let mut matched = Vec::with_capacity(cards.len());
        for card in cards {
            if self.is_over() || query.known_format() != Some(card.format) {
                continue;
            }
            let Some(read) = self.read(card) else {
                continue;
            };
            self.unmatched_bytes = self.unmatched_bytes.saturating_sub(read.card.raw.len());
            let candidate = candidate(&read.held, read.card.key.is_some());
            let matches = dcql::mismatch(query, &candidate).is_none();
            matched.push((read, matches));
        }
        matched
    }

    fn read(&mut self, card: CardRecord) -> Option<ReadCard> {
        if let Some(known) = self.read.get(&card.id) {
            return known.clone();
        }
        let id = card.id.clone();
        let read = card.held().ok().map(|held| {
            self.unread_bytes = self.unread_bytes.saturating_sub(held.weight());
            ReadCard {
                card: Arc::new(card),
                held: Arc::new(held),
            }
        });
        self.read.insert(id, read.clone());
        read
    }
}

/// The cards that are looked for: a person's, for one credential of a request.
struct Sought<'a> {
    person: &'a Person,
    asked: &'a AwaitingConsent,
    query: &'a CredentialQuery,
}

/// What is found under the tags of one type, and how many cards are wanted.
struct UnderTag<'a> {
    found: &'a mut FoundCards,
    count: &'a mut CardCount,
    look: &'a mut Look,
    most: usize,
}

impl Wallet {
    /// Cards that may answer: for each query the newest that fit it, `most` at most, followed by some others that show
    /// what is missing.
    pub(super) async fn fitting(
        &self,
        person: &Person,
        asked: &AwaitingConsent,
        most: usize,
    ) -> Result<Vec<Fitting>> {
        let mut found = FoundCards::default();
        let mut look = Look::new();
        let is_tagged = self.is_tagged(&person.tenant).await?;
        for query in asked.request.query.credentials() {
            let sought = Sought {
                person,
                asked,
                query,
            };
            for name in types_of(query) {
                let mut count = CardCount::default();
                let tags = match is_tagged {
                    true => tags::sought(query, &name),
                    false => vec![Tag::hashed("type", name)],
                };
                for tag in tags {
                    let mut under = UnderTag {
                        found: &mut found,
                        count: &mut count,
                        look: &mut look,
                        most,
                    };
                    self.look_under(&sought, &tag, &mut under).await?;
                    if count.good >= most {
                        break;
                    }
                }
            }
        }
        found.0.sort_by_key(|fit| !fit.good);
        Ok(found.0)
    }

    /// Looks through the cards with this tag, the newest first, until there are as many as are wanted.
    async fn look_under(
        &self,
        sought: &Sought<'_>,
        tag: &Tag,
        under: &mut UnderTag<'_>,
    ) -> Result<()> {
        let (store, tenant) = (&self.shared.store, &sought.person.tenant);
        let mut page = Page::newest(under.most);
        let mut looked_through: usize = 0;
        loop {
            let records = store.find(tenant, CARD, tag, &page).await?;
            looked_through = looked_through.saturating_add(records.len());
            for fit in self.fits(sought, &records, under.look).await? {
                under.found.add(fit, under.count);
            }
            let goes_on = under.count.good < under.most
                && looked_through < CARDS_LOOKED_THROUGH
                && !under.look.is_over();
            match records.last().filter(|_| goes_on) {
                Some(last) => page = Page::newest(CARDS_MAX).after(last.cursor()),
                None => return Ok(()),
            }
        }
    }

    /// The cards that a person chose, by query.
    pub(super) async fn named(
        &self,
        person: &Person,
        asked: &AwaitingConsent,
        cards: &BTreeMap<String, String>,
    ) -> Result<Vec<Fitting>> {
        let mut named = Vec::new();
        let mut look = Look::new();
        for (query, id) in cards {
            let Some(query) = asked.request.query.credential(query) else {
                continue;
            };
            if let Some(record) = self.shared.store.read(&person.tenant, CARD, id).await? {
                let sought = Sought {
                    person,
                    asked,
                    query,
                };
                named.extend(self.fits(&sought, &[record], &mut look).await?);
            }
        }
        Ok(named)
    }

    /// The cards with the keys they are presented with; without those that have expired or have another format.
    async fn fits(
        &self,
        sought: &Sought<'_>,
        records: &[Record],
        look: &mut Look,
    ) -> Result<Vec<Fitting>> {
        let Sought {
            person,
            asked,
            query,
        } = *sought;
        let now = self.shared.clock.now();
        let mut cards = Vec::with_capacity(records.len());
        for record in records {
            let card = CardRecord::read(record)?;
            if card.expires.is_none_or(|expires| expires > now) {
                cards.push(card);
            }
        }
        let bytes = length(cards.iter());
        let (query_here, mut looking) = (query.clone(), std::mem::replace(look, Look::new()));
        let job = move || {
            let matched = looking.matched(&query_here, cards);
            (matched, looking)
        };
        let (matched, looked) = self.read_through(bytes, job).await?;
        *look = looked;
        let mut fitting = Vec::with_capacity(matched.len());
        for (ReadCard { card, held }, matches) in matched {
            let key = match matches {
                true => self.holder_key(person, &card, &held).await?,
                false => None,
            };
            let proof = key
                .as_ref()
                .filter(|_| query.require_cryptographic_holder_binding);
            let checked = response::can_be_checked(&asked.request, &held, proof);
            fitting.push(Fitting {
                good: matches && checked.is_ok(),
                card,
                held,
                key,
            });
        }
        Ok(fitting)
    }

    /// The key that a card is bound to, and its key ID.
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
            // The issuer of a W3C credential turned a key without an ID into a did:jwk.
            (None, Some(did)) => Some(selfsame_core::identity::kid_of(
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

    /// Finds which cards answer which query.
    pub(super) async fn selection(
        &self,
        asked: &AwaitingConsent,
        fitting: Vec<Fitting>,
    ) -> Result<(Selection<usize>, Vec<Fitting>)> {
        let asked = asked.clone();
        let bytes = work_of(&asked, &fitting);
        let select = move || (selected(&asked.request.query, &fitting), fitting);
        self.read_through(bytes, select).await
    }

    /// The contents of the request's preview.
    pub(super) async fn offer_of(
        &self,
        asked: &AwaitingConsent,
        fitting: Vec<Fitting>,
    ) -> Result<PreviewContents> {
        let asked = asked.clone();
        let bytes = work_of(&asked, &fitting);
        let offer = move || {
            let selection = selected(&asked.request.query, &fitting);
            let (is_answerable, shares) = shares(&asked, &fitting, &selection);
            PreviewContents {
                selection,
                is_answerable,
                shares,
            }
        };
        self.read_through(bytes, offer).await
    }

    /// Runs a job over cards of this total length: on this thread if it is short, else where it delays no request.
    async fn read_through<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        match bytes <= AT_ONCE_BYTES {
            true => Ok(job()),
            false => self.shared.reading.run(job).await,
        }
    }
}

/// The total length of these cards, in bytes.
fn length<'c>(cards: impl Iterator<Item = &'c CardRecord>) -> usize {
    cards
        .map(|card| card.raw.len())
        .fold(0, usize::saturating_add)
}

/// Bytes of cards to look at if every query is matched with every card.
fn work_of(asked: &AwaitingConsent, fitting: &[Fitting]) -> usize {
    let once = length(fitting.iter().map(|fit| fit.card.as_ref()));
    once.saturating_mul(asked.request.query.credentials().len())
}

/// Cards that may answer, without duplicates.
#[derive(Default)]
struct FoundCards(Vec<Fitting>);

/// Number of cards found for one query and type.
#[derive(Default)]
struct CardCount {
    good: usize,
    others: usize,
}

impl FoundCards {
    fn add(&mut self, fit: Fitting, count: &mut CardCount) {
        let counted = match fit.good {
            true => &mut count.good,
            false => &mut count.others,
        };
        *counted = counted.saturating_add(1);
        let is_full = self.0.len() >= FITTING_MAX;
        // It may have been found for another query.
        match self.0.iter_mut().find(|known| known.card.id == fit.card.id) {
            Some(known) if known.key.is_none() || fit.good => *known = fit,
            Some(_) => {}
            None if *counted <= CARDS_MAX && !is_full => self.0.push(fit),
            None => {}
        }
    }
}

/// The first of these cards (the good ones) that the budget allows to match with this number of queries.
fn affordable(fitting: &[Fitting], queries: usize) -> &[Fitting] {
    let mut left = MATCHED_BYTES;
    let first = fitting.iter().take_while(|fit| {
        left = left.saturating_sub(fit.card.raw.len().saturating_mul(queries));
        left > 0
    });
    fitting.get(..first.count()).unwrap_or_default()
}

fn selected(query: &DcqlQuery, fitting: &[Fitting]) -> Selection<usize> {
    let candidates: Vec<_> = affordable(fitting, query.credentials().len())
        .iter()
        .enumerate()
        .map(|(number, fit)| (number, candidate(&fit.held, fit.card.key.is_some())))
        .collect();
    let mut selection = dcql::select(query, &candidates);
    // The verifier's order is a preference (OpenID4VP 1.0 §6.2): an alternative that uses up a card comes last.
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

/// Whether there is an answer, and what each query would share. Of long cards only some are shown, one per query at
/// least.
fn shares(
    asked: &AwaitingConsent,
    fitting: &[Fitting],
    selection: &Selection<usize>,
) -> (bool, Vec<Share>) {
    let Ok(preferred) = by_policy(selection) else {
        return (false, Vec::new());
    };
    let mut left = SHOWN_BYTES;
    let is_an_option = |query: &str| {
        let mut options = selection.sets.iter().flat_map(|set| &set.options);
        options.any(|option| option.iter().any(|id| id == query))
    };
    let mut shares = Vec::new();
    for query in asked.request.query.credentials() {
        let Some(found) = selection
            .query(&query.id)
            .filter(|_| is_an_option(&query.id))
        else {
            continue;
        };
        let mut choices = Vec::new();
        for one in &found.matches {
            let length = fitting.get(one.id).map_or(0, |fit| fit.card.raw.len());
            if !choices.is_empty() && length > left {
                break;
            }
            left = left.saturating_sub(length);
            choices.extend(choice(fitting, one));
        }
        shares.push(Share {
            query: query.id.clone(),
            required: selection.is_required(&query.id),
            preselected: preferred.iter().any(|(id, _)| *id == query.id),
            choices,
        });
    }
    (true, shares)
}

/// What the history will record about the cards shown.
pub(super) fn shown(fitting: &[Fitting], matches: &[(&str, &Match<usize>)]) -> SharedContent {
    let mut shown = SharedContent::default();
    for (_, one) in matches {
        let (Some(fit), Some(choice)) = (fitting.get(one.id), choice(fitting, one)) else {
            continue;
        };
        if choice.uses_up {
            let key = single_use(&fit.held);
            shown.one_use.extend(key.as_ref().map(one_use));
        }
        shown.cards.push(choice.title);
        let claims = choice.claims.into_iter().filter(|claim| !claim.technical);
        let labels = claims.map(|claim| claim.label);
        shown.claims.extend(labels);
    }
    shown
}

/// A card as it would be shown: the claims that its issuer always reveals, and of the rest those requested.
fn choice(fitting: &[Fitting], one: &Match<usize>) -> Option<Choice> {
    let fit = fitting.get(one.id)?;
    let mut claims = fit.card.lines_with(&fit.held, &one.reveal).ok()?;
    for claim in &mut claims {
        let path = ClaimPath::parse(&Value::Array(claim.path.clone()));
        claim.kept = path.is_ok_and(|path| one.kept.iter().any(|kept| path.begins_with(kept)));
    }
    let look = &fit.card.look;
    Some(Choice {
        card: fit.card.id.clone(),
        title: look.display(&fit.card.types).title,
        issuer_name: look.issuer_name.clone(),
        issuer: fit.card.issuer.clone(),
        uses_up: claims.iter().any(|claim| claim.path == [HANDLE]),
        hidden: fit.card.hidden(&fit.held, &claims),
        claims,
    })
}

/// The types of cards that can answer the query; a card needs at least one of them.
pub(super) fn types_of(query: &CredentialQuery) -> Vec<String> {
    match &query.meta {
        Meta::SdJwtVc { vct_values } => vct_values.clone(),
        Meta::W3c { type_values } => type_values
            .iter()
            .filter_map(|types| dcql::narrowest_type(types).map(str::to_owned))
            .collect(),
        Meta::Mdoc { doctype_value } => vec![doctype_value.clone()],
        Meta::Other(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use selfsame_credential::Format;
    use selfsame_crypto::jws::Unsigned;
    use selfsame_crypto::time::UnixTime;
    use serde_json::json;

    use super::*;

    const LONG: usize = 100 << 10;

    /// A card with a claim of this number of bytes.
    fn card(id: usize, bytes: usize) -> CardRecord {
        let payload = json!({ "vct": "urn:x", "name": "x".repeat(bytes) });
        let jwt = Unsigned::new(&json!({ "alg": "ES256", "typ": "dc+sd-jwt" }), &payload);
        CardRecord {
            id: id.to_string(),
            format: Format::SdJwtVc,
            raw: jwt.finish(&[0; 64]) + "~",
            key: None,
            kid: None,
            issuer: String::new(),
            types: vec!["urn:x".to_owned()],
            look: crate::cards::Look::default(),
            added: UnixTime(0),
            expires: None,
            asked_types: Vec::new(),
            authorities: Vec::new(),
            seen: None,
        }
    }

    fn cards(many: usize) -> Vec<CardRecord> {
        (0..many).map(|id| card(id, LONG)).collect()
    }

    fn query(many: usize) -> DcqlQuery {
        let one = |id: usize| {
            json!({
                "id": format!("q{id}"), "format": "dc+sd-jwt", "multiple": false,
                "require_cryptographic_holder_binding": false,
                "meta": { "vct_values": ["urn:x"] }, "claims": [{ "path": ["name"] }],
            })
        };
        let all: Vec<_> = (0..many).map(one).collect();
        DcqlQuery::parse(&json!({ "credentials": all })).unwrap()
    }

    #[test]
    fn a_card_is_read_once_for_all_queries_of_a_request() {
        let (query, mut look) = (query(3), Look::new());
        let mut held: Vec<Arc<Held>> = Vec::new();
        let mut unread = Vec::new();
        for one in query.credentials() {
            let matched = look.matched(one, vec![card(1, 10), card(2, 10)]);
            assert!(matched.iter().all(|(_, matches)| *matches));
            held.extend(matched.into_iter().map(|(read, _)| read.held));
            unread.push(look.unread_bytes);
        }
        assert_eq!(look.read.len(), 2);
        assert!(
            unread[0] < READ_BYTES && unread[2] == unread[0],
            "{unread:?}"
        );
        assert!(Arc::ptr_eq(&held[0], &held[2]) && Arc::ptr_eq(&held[1], &held[5]));
    }

    #[test]
    fn what_is_read_for_a_request_ends_at_its_budget() {
        let (query, mut look) = (query(1), Look::new());
        let matched = look.matched(&query.credentials()[0], cards(200)).len();
        assert_eq!((look.unread_bytes, look.is_over()), (0, true));
        assert!((10..=READ_BYTES / LONG).contains(&matched), "{matched}");
        assert!(look.matched(&query.credentials()[0], cards(1)).is_empty());
    }

    #[test]
    fn what_is_matched_for_a_request_ends_at_its_budget() {
        let (query, mut look) = (query(1), Look::new());
        let once = || cards(1);
        let looks = (0..400).map(|_| look.matched(&query.credentials()[0], once()).len());
        let matched: usize = looks.sum();
        assert_eq!((look.unmatched_bytes, look.is_over()), (0, true));
        assert!(look.unread_bytes > 0);
        // The signature and base64 make a card longer than its claim.
        assert!((200..=MATCHED_BYTES / LONG).contains(&matched), "{matched}");
    }

    #[test]
    fn what_is_selected_from_ends_at_the_budget_with_the_good_cards_first() {
        let fitting = |card: CardRecord| Fitting {
            held: Arc::new(card.held().unwrap()),
            card: Arc::new(card),
            key: None,
            good: true,
        };
        let fitting: Vec<Fitting> = cards(100).into_iter().map(fitting).collect();
        let found = |queries: usize| {
            let selection = selected(&query(queries), &fitting);
            let matches = selection.queries.iter().map(|one| one.matches.len());
            matches.min().unwrap()
        };
        assert_eq!(found(1), 100);
        let few = found(10);
        assert!((10..50).contains(&few), "{few}");
    }
}
