//! Takes entries: credentials that verify, and claims that the organisation vouches for itself.

use std::collections::HashSet;
use std::sync::Arc;

use selfsame_book::due::IssuedEntry;
use selfsame_book::entry::{BookChange, EntryRecord, is_uuid, uuid};
use selfsame_book::facts::BookFacts;
use selfsame_book::mapping::Misfit;
use selfsame_book::news::{BookNews, NEWS, NEWS_SECONDS};
use selfsame_book::number;
use selfsame_book_index::numbers::{AskedNumbers, NumberedEntry};
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::seconds_of_rfc3339;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid_view::verifier::CredentialVerdict;
use selfsame_store::{Batch, Expect, Page, Put, Tag};
use selfsame_types::{CredentialType, TypeSet};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::books::{BOOK, Book, failed};
use crate::limited::limited;

/// Maximum number of credentials of one request, each of which is verified.
pub(crate) const CREDENTIALS_MAX: usize = 100;
/// Maximum number of rows of a quick load.
const ROWS_MAX: usize = 1_000;
/// The tag of the credential itself, by which one that comes again is known.
const CREDENTIAL: &str = "credential";

/// Credentials to enter into a book.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCredentials {
    /// The credentials as they were issued, with all disclosures that the book is to show; at most 100.
    pub credentials: Vec<String>,
}

/// Claims that the organisation vouches for itself.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickLoad {
    /// The id of the credential type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// The rows, at most 1,000.
    pub rows: Vec<QuickRow>,
}

/// The claims of one entry.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickRow {
    /// A UUID by which a row that comes again is known. Default: a new one.
    #[serde(default)]
    pub id: Option<String>,
    /// The claims, as those of an offer.
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
}

/// An entry as it was entered.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LoadedEntry {
    /// Its identifier in the book.
    pub credential_id: String,
    /// The number of its topic.
    pub topic_id: i64,
    /// Whether it is new; false for one that the book had already.
    pub new: bool,
}

/// An entry to be, with its facts.
pub(crate) struct Candidate {
    pub entry: EntryRecord,
    pub one: Arc<CredentialType>,
    pub facts: BookFacts,
    pub sameness: Sameness,
    /// What is written with it.
    pub beside: Option<WrittenBeside>,
}

/// What is written with an entry.
pub(crate) struct WrittenBeside {
    /// A further tag of its record.
    pub tag: Tag,
    /// Further writes.
    pub writes: Batch,
}

/// What is known of a book before entries are written into it.
#[derive(Clone)]
struct BookGround {
    /// The numbers of the topics that it has.
    topics: HashSet<i64>,
    /// Whether somebody may want to hear of new entries.
    is_heard: bool,
}

/// How an entry that comes again is known.
pub(crate) enum Sameness {
    /// It has an identifier that was not used before.
    New,
    /// By its identifier, which its sender chose.
    Id,
    /// By its credential, which has this tag.
    Credential(Tag),
}

/// What is written of entries.
struct LoadPlan {
    batch: Batch,
    /// Whether it tells events.
    is_told: bool,
    changes: Vec<BookChange>,
    loaded: Vec<LoadedEntry>,
}

impl Book {
    /// Enters credentials after verifying them, all or none.
    ///
    /// # Errors
    /// `BadRequest` with the number of the first credential that is not valid now, is of no type with a mapping, or does
    /// not say what it is about.
    pub async fn enter(&self, new: &NewCredentials) -> Result<Vec<LoadedEntry>> {
        if new.credentials.len() > CREDENTIALS_MAX {
            return Err(Error::bad_request("book-many").with("maximum", &CREDENTIALS_MAX));
        }
        let types = self.types().await?;
        let mut candidates = Vec::new();
        for (place, credential) in new.credentials.iter().enumerate() {
            let candidate = self.candidate(credential, &types).await;
            candidates.push(candidate.map_err(|error| at(place, error))?);
        }
        self.commit(candidates).await
    }

    /// Enters claims of a type, all or none. Such an entry has no credential, and says so when it is verified.
    ///
    /// # Errors
    /// `BadRequest` with the number of the first row that does not fit; `NotFound` for an unknown type.
    pub async fn quick_load(&self, load: &QuickLoad) -> Result<Vec<LoadedEntry>> {
        if load.rows.len() > ROWS_MAX {
            return Err(Error::bad_request("book-many").with("maximum", &ROWS_MAX));
        }
        let types = self.types().await?;
        let one = types.find(&load.type_id)?;
        let issuer = self.roles.identity()?.names().into_iter().next();
        let issuer = issuer.unwrap_or_default();
        let now = self.shared().clock.now();
        let ctx = self.shared().clock.ctx();
        let mut candidates = Vec::new();
        for (place, row) in load.rows.iter().enumerate() {
            let (credential_id, sameness) = match &row.id {
                Some(id) if is_uuid(id) => (id.clone(), Sameness::Id),
                Some(_) => return Err(at(place, Error::bad_request("book-row-id"))),
                None => (
                    uuid(ctx.random::<16>(&format!("book/entry/{place}"))),
                    Sameness::New,
                ),
            };
            let claims = one
                .fill(&row.claims, false)
                .map_err(|error| at(place, error))?;
            let facts = facts(one, &claims).map_err(|error| at(place, error))?;
            candidates.push(Candidate {
                one: one.clone(),
                entry: EntryRecord {
                    credential_id,
                    type_id: one.id.clone(),
                    issuer: issuer.clone(),
                    claims,
                    credential: None,
                    held: None,
                    issued: None,
                    entered: now,
                },
                facts,
                sameness,
                beside: None,
            });
        }
        self.commit(candidates).await
    }

    /// Enters a credential that the organisation has issued, unless the book has it.
    ///
    /// # Errors
    /// As [`Self::enter`]; `Gone` if the entry was erased.
    pub(crate) async fn enter_issued(
        &self,
        credential_id: &str,
        issued: IssuedEntry,
    ) -> Result<Vec<LoadedEntry>> {
        let types = self.types().await?;
        let unmapped = || Error::bad_request("book-type-unmapped").with("type", &issued.type_id);
        let one = types.newest(&issued.type_id);
        let one = one.filter(|one| one.book.is_some()).ok_or_else(unmapped)?;
        let candidate = Candidate {
            facts: facts(one, &issued.claims)?,
            one: one.clone(),
            entry: EntryRecord {
                credential_id: credential_id.to_owned(),
                credential: one
                    .book
                    .as_ref()
                    .and_then(|mapping| limited(&issued.credential, mapping)),
                held: None,
                type_id: issued.type_id,
                issuer: issued.issuer,
                claims: issued.claims,
                issued: i64::try_from(issued.issued.0).ok(),
                entered: self.shared().clock.now(),
            },
            sameness: Sameness::Id,
            beside: None,
        };
        self.commit(vec![candidate]).await
    }

    /// An entry of a credential that verifies.
    async fn candidate(&self, credential: &str, types: &TypeSet) -> Result<Candidate> {
        let verdict = self.roles.verify(credential).await?;
        if verdict.outcome != Outcome::Valid {
            let outcome = verdict.outcome.as_str();
            return Err(Error::bad_request("book-not-valid").with("outcome", outcome));
        }
        let one = type_of(&verdict, types)?;
        let named = verdict.credential.as_ref();
        let issuer = named.and_then(|named| named.issuer.clone());
        let (claims, issued) = claims(one, verdict.claims.as_ref());
        let digest = hex_encode(&sha256(credential.as_bytes()));
        let ctx = self.shared().clock.ctx();
        Ok(Candidate {
            one: one.clone(),
            facts: facts(one, &claims)?,
            entry: EntryRecord {
                credential_id: uuid(ctx.random::<16>("book/entry")),
                type_id: one.id.clone(),
                issuer: issuer.ok_or_else(|| Error::bad_request("book-issuer-unnamed"))?,
                claims,
                credential: Some(credential.to_owned()),
                held: None,
                issued,
                entered: ctx.now(),
            },
            sameness: Sameness::Credential(Tag::hashed(CREDENTIAL, digest)),
            beside: None,
        })
    }

    /// Writes the entries, then indexes them.
    pub(crate) async fn commit(&self, candidates: Vec<Candidate>) -> Result<Vec<LoadedEntry>> {
        self.settle().await?;
        let owner = self.subscriptions_owner();
        let ground = BookGround {
            topics: self.unclashing(&candidates).await?,
            is_heard: self.webhooks().has_subscriptions(&owner).await?,
        };
        let is_credential = |one: &Candidate| matches!(one.sameness, Sameness::Credential(_));
        if !candidates.iter().any(is_credential) {
            // Most rows are new, and the store refuses one that is not: only then they are looked up one by one.
            let none = vec![None; candidates.len()];
            let written = match self.planned(&candidates, none, ground.clone()) {
                Ok(plan) => self.write(plan).await,
                Err(misfit) => Err(misfit),
            };
            match written {
                Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::BadRequest) => {
                }
                done => return done,
            }
        }
        let mut known = Vec::with_capacity(candidates.len());
        for (place, candidate) in candidates.iter().enumerate() {
            let found = self.known(candidate).await;
            known.push(found.map_err(|error| at(place, error))?);
        }
        self.write(self.planned(&candidates, known, ground)?).await
    }

    async fn write(&self, plan: LoadPlan) -> Result<Vec<LoadedEntry>> {
        self.commit_changes(plan.batch, plan.changes).await?;
        if plan.is_told {
            self.shared().events.wake();
        }
        Ok(plan.loaded)
    }

    /// What is written of these entries, of which the book has those with a known identifier, and has these topics.
    fn planned(
        &self,
        candidates: &[Candidate],
        known: Vec<Option<String>>,
        mut ground: BookGround,
    ) -> Result<LoadPlan> {
        let mut plan = LoadPlan {
            batch: Batch::new(self.tenant().clone()),
            is_told: false,
            changes: Vec::new(),
            loaded: Vec::new(),
        };
        for (place, (candidate, known)) in candidates.iter().zip(known).enumerate() {
            let topic_id = number::topic(&candidate.facts.topic);
            let id = candidate.entry.credential_id.clone();
            plan.loaded.push(LoadedEntry {
                new: known.is_none(),
                credential_id: known.as_ref().unwrap_or(&id).clone(),
                topic_id,
            });
            if known.is_some() {
                continue;
            }
            // Only an entry that can be the first one may be about a topic that is not in the book.
            let is_first = candidate.facts.founds && ground.topics.insert(topic_id);
            if !ground.topics.contains(&topic_id) {
                return Err(at(place, Error::bad_request("book-topic-unknown")));
            }
            let change = BookChange::Entered(Box::new(candidate.entry.clone()));
            let put = Put::new(BOOK, &id, encode(&change)?);
            let put = match &candidate.sameness {
                Sameness::Credential(tag) => put.tag(tag.clone()),
                Sameness::New | Sameness::Id => put,
            };
            let put = match &candidate.beside {
                Some(beside) => {
                    plan.batch = plan.batch.and(beside.writes.clone());
                    put.tag(beside.tag.clone())
                }
                None => put,
            };
            plan.batch = plan.batch.expect(BOOK, &id, Expect::Absent).put(put);
            plan.changes.push(change);
            if ground.is_heard
                && let Some(news) = candidate.news(is_first)
            {
                let kept = self.shared().clock.now().plus(NEWS_SECONDS);
                let put = Put::new(NEWS, &id, encode(&news)?).expires(kept);
                plan.batch = plan.batch.put(put).event(NEWS, &id);
                plan.is_told = true;
            }
        }
        Ok(plan)
    }

    /// Refuses entries of which a number is that of another name. Returns the numbers of topics that the book has.
    async fn unclashing(&self, candidates: &[Candidate]) -> Result<HashSet<i64>> {
        let entries = candidates.iter().map(|one| NumberedEntry {
            credential_id: &one.entry.credential_id,
            type_id: &one.entry.type_id,
            facts: &one.facts,
        });
        let entries: Vec<NumberedEntry<'_>> = entries.collect();
        let asked = AskedNumbers::of(&entries);
        let holders = self.index().holders(&self.name, &asked).await;
        let holders = holders.map_err(failed)?;
        let topics = holders.topics.keys().copied().collect();
        match holders.clash(&entries) {
            None => Ok(topics),
            Some(clash) => {
                let taken = Error::new(ErrorKind::Conflict, "book-number-taken")
                    .with("name", &clash.name)
                    .with("other", &clash.holder);
                Err(at(clash.place, taken))
            }
        }
    }

    /// The identifier of the same entry, if the book has it already.
    async fn known(&self, candidate: &Candidate) -> Result<Option<String>> {
        let tag = match &candidate.sameness {
            Sameness::New => return Ok(None),
            Sameness::Credential(tag) => tag,
            Sameness::Id => {
                let id = &candidate.entry.credential_id;
                return match self.entry(id).await {
                    Ok((_, known)) if known.claims == candidate.entry.claims => {
                        Ok(Some(id.clone()))
                    }
                    Ok(_) => Err(Error::new(ErrorKind::Conflict, "book-row-other")),
                    Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(error),
                };
            }
        };
        let first = Page::first(1);
        let found = self.store().find(self.tenant(), BOOK, tag, &first);
        Ok(found.await?.into_iter().next().map(|record| record.id))
    }
}

impl Candidate {
    /// What is told of it.
    fn news(&self, is_first: bool) -> Option<BookNews> {
        let mapping = self.one.book.as_ref()?;
        let news = BookNews::of(&self.entry, &self.facts, mapping);
        Some(BookNews { is_first, ..news })
    }
}

/// The type of a verified credential, if its credentials appear in a book.
fn type_of<'a>(verdict: &CredentialVerdict, types: &'a TypeSet) -> Result<&'a Arc<CredentialType>> {
    let kind = verdict.credential.as_ref().map(|named| named.kind.as_str());
    let kind = kind.unwrap_or_default();
    let of_w3c = || {
        types
            .newest_of_each()
            .find(|one| one.w3c_types().last().is_some_and(|last| last == kind))
    };
    let found = types.by_vct(kind).or_else(of_w3c);
    let newest = found.and_then(|one| types.newest(&one.id));
    match newest {
        Some(one) if one.book.is_some() => Ok(one),
        _ => Err(Error::bad_request("book-type-unmapped").with("type", kind)),
    }
}

/// The claims of a verified credential that its type has, and when it was issued.
fn claims(one: &CredentialType, shown: Option<&Value>) -> (Map<String, Value>, Option<i64>) {
    let all = shown
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let issued = match (
        all.get("iat"),
        all.get("validFrom").or(all.get("issuanceDate")),
    ) {
        (Some(seconds), _) => seconds.as_i64(),
        (None, Some(text)) => text.as_str().and_then(seconds_of_rfc3339),
        (None, None) => None,
    };
    let subject = all.get("credentialSubject").and_then(Value::as_object);
    let mut claims = subject.cloned().unwrap_or(all);
    let outermost = |name: &String| {
        one.claims
            .iter()
            .any(|claim| claim.path.first() == Some(name))
    };
    claims.retain(|name, _| outermost(name));
    (claims, issued)
}

/// The facts of claims of a type.
pub(crate) fn facts(one: &CredentialType, claims: &Map<String, Value>) -> Result<BookFacts> {
    let unmapped = || Error::bad_request("book-type-unmapped").with("type", &one.id);
    let mapping = one.book.as_ref().ok_or_else(unmapped)?;
    mapping.facts(claims).map_err(misfitting)
}

/// The error of claims that can't be an entry.
pub(crate) fn misfitting(misfit: Misfit) -> Error {
    match misfit {
        Misfit::SourceId => Error::bad_request("book-source-id"),
        Misfit::Date => Error::bad_request("book-date"),
        Misfit::Text => Error::bad_request("book-text"),
    }
}

/// An error about one of several, with its number from 1.
pub(crate) fn at(place: usize, error: Error) -> Error {
    let number = place.saturating_add(1);
    let kind = error.kind;
    match kind {
        ErrorKind::BadRequest | ErrorKind::Conflict | ErrorKind::Gone | ErrorKind::NotFound => {
            Error::new(kind, "book-row")
                .with("number", &number)
                .because(error.reason)
        }
        _ => error,
    }
}
