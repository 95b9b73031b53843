//! The register of issued credentials, and changes of their status.

use selfsame_book::text::words;
use selfsame_credential::Format;
use selfsame_credential::single_use::{self, Reference};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::issuer::credential::CredentialContent;
use selfsame_store::{Batch, Expect, Put, StoreError, Tag};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::signing::CredentialKind;
use super::{CredentialSubject, Issuer};
use crate::view::issuer::{CredentialStatus, IssuedCredential};
use crate::view::list_faces::{ListFace, ListPlace};
use crate::view::uses::CredentialUse;
use selfsame_core::events::{Event, EventKind};
use selfsame_core::registry::UseKey;

/// The kind of the records of issued credentials.
pub(super) const ISSUED: &str = "issued";
/// The words of a reference by which its credential is found.
const WORDS_MAX: usize = 8;
/// The end of a credential that has none: the last second that RFC 3339 can write.
const NO_END: UnixTime = UnixTime(253_402_300_799);
/// If the status changes this often during one request, other requests are changing it at the same time.
const RACES_MAX: usize = 8;

/// A credential that is being issued.
pub(super) struct IssuedCopies<'a> {
    pub subject: &'a CredentialSubject,
    pub content: &'a CredentialContent,
    /// The entry of the organisation's credential book that all its copies have.
    pub entry: Option<String>,
}

/// An issued credential as it is stored: without its holder and without its claims, except those that only the issuer
/// keeps.
#[derive(Deserialize, Serialize)]
pub(super) struct IssuedRecord {
    #[serde(rename = "type", alias = "template")]
    pub type_id: String,
    /// The version of the type; an earlier program issued the samples only, and stored none.
    #[serde(default)]
    version: Option<u32>,
    format: String,
    offer: String,
    label: Option<String>,
    issued: UnixTime,
    pub expires: UnixTime,
    pub place: ListPlace,
    pub status: CredentialStatus,
    /// The digest that a single-use credential's handle is registered under. The holder has the handle itself.
    #[serde(default)]
    use_digest: Option<[u8; 32]>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    kept: Map<String, Value>,
    /// Its entry in the organisation's credential book, if its type says that the book has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// A credential that was signed in the issuer's name and has a place in its lists, but comes of no offer.
pub struct SignedElsewhere<'a> {
    /// The id of its record.
    pub id: &'a str,
    /// Its most specific type.
    pub kind: &'a str,
    /// Its format.
    pub format: Format,
    /// Its place.
    pub place: ListPlace,
    /// Until when it is valid, if it ends.
    pub until: Option<UnixTime>,
}

impl IssuedRecord {
    /// The kind of the credential, unless its format is no longer known.
    fn kind(&self) -> Option<CredentialKind> {
        Some(CredentialKind {
            format: self.format.parse().ok()?,
            has_handle: self.use_digest.is_some(),
        })
    }

    /// Adds the record in place of the one that has this version.
    pub(super) fn written_in(&self, batch: Batch, id: &str, version: u64) -> Result<Batch> {
        let put = Put::new(ISSUED, id, encode(self)?);
        let put = self.tags().into_iter().fold(put, Put::tag);
        Ok(batch.expect(ISSUED, id, Expect::Version(version)).put(put))
    }

    fn tags(&self) -> Vec<Tag> {
        let mut tags = vec![Tag::hashed("offer", self.offer.clone())];
        let reference = words(self.label.as_deref().unwrap_or_default());
        tags.extend(reference.into_iter().take(WORDS_MAX).map(of_word));
        tags.extend(self.entry.as_deref().map(of_entry));
        if self.status != CredentialStatus::Valid {
            // This tag finds the credentials to rebuild the lists from at the start.
            tags.push(Tag::hashed("withdrawn", "yes"));
        }
        tags
    }
}

impl Issuer {
    /// Registers a credential that comes of no offer.
    ///
    /// # Errors
    /// `Conflict` if one has this id; the store's.
    pub async fn register_signed(&self, one: SignedElsewhere<'_>) -> Result<()> {
        let now = self.shared.clock.now();
        let record = IssuedRecord {
            type_id: one.kind.to_owned(),
            version: None,
            format: one.format.as_str().to_owned(),
            offer: String::new(),
            label: None,
            issued: now.rounded_down(self.context.config.issuer.round_times_to),
            expires: one.until.unwrap_or(NO_END),
            place: one.place,
            status: CredentialStatus::Valid,
            use_digest: None,
            kept: Map::new(),
            entry: None,
        };
        let put = Put::new(ISSUED, one.id, encode(&record)?);
        let put = record.tags().into_iter().fold(put, Put::tag);
        let batch = Batch::new(self.tenant().clone());
        let batch = batch.expect(ISSUED, one.id, Expect::Absent).put(put);
        let event = Event::new(EventKind::Issued, one.id);
        match self.shared.events.commit(batch, event).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "credential-id-taken"))
            }
            Err(other) => Err(other.into()),
        }
    }

    pub(super) fn issued_put(&self, one: &IssuedCopies<'_>, place: &ListPlace) -> Result<Put> {
        let (subject, content) = (one.subject, one.content);
        let ctx = self.shared.clock.ctx();
        let now = ctx.now();
        let record = IssuedRecord {
            type_id: subject.type_id.clone(),
            version: subject.version,
            format: subject.format.clone(),
            offer: subject.offer.clone(),
            label: subject.label.clone(),
            issued: now.rounded_down(self.context.config.issuer.round_times_to),
            expires: content.expires.unwrap_or(now),
            place: place.clone(),
            status: CredentialStatus::Valid,
            use_digest: use_digest(&content.claims),
            kept: subject.kept.clone(),
            entry: one.entry.clone(),
        };
        let id = selfsame_crypto::encoding::base64url_encode(&ctx.random::<16>("issued/id"));
        let put = Put::new(ISSUED, id, encode(&record)?);
        Ok(record.tags().into_iter().fold(put, Put::tag))
    }

    /// The issued credentials, newest first; with `offer`, only those of that offer.
    ///
    /// # Errors
    /// The store's.
    pub async fn issued(
        &self,
        offer: Option<&str>,
        paging: &Paging,
    ) -> Result<Listing<IssuedCredential>> {
        let tag = offer.map(|offer| Tag::hashed("offer", offer));
        self.issued_under(tag.as_ref(), paging).await
    }

    /// The issued credentials with this word in their reference, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn issued_by_word(
        &self,
        word: &str,
        paging: &Paging,
    ) -> Result<Listing<IssuedCredential>> {
        let tag = of_word(word.to_owned());
        self.issued_under(Some(&tag), paging).await
    }

    async fn issued_under(
        &self,
        tag: Option<&Tag>,
        paging: &Paging,
    ) -> Result<Listing<IssuedCredential>> {
        let store = &self.shared.store;
        let page = page(paging);
        let records = match tag {
            None => store.list(self.tenant(), ISSUED, &page).await?,
            Some(tag) => store.find(self.tenant(), ISSUED, tag, &page).await?,
        };
        let mut listed = listing(&records, paging, |record| {
            let issued: IssuedRecord = decode(&record.value)?;
            Ok((self.issued_view(&record.id, &issued), issued.use_digest))
        })?;
        self.look_up_uses(&mut listed.items).await;
        Ok(Listing {
            items: listed.items.into_iter().map(|(shown, _)| shown).collect(),
            next: listed.next,
        })
    }

    /// Adds the uses of these credentials, as far as the registry reports them.
    async fn look_up_uses(&self, shown: &mut [(IssuedCredential, Option<[u8; 32]>)]) {
        let key = |digest: Option<[u8; 32]>| {
            let issuer = self.identity.did().clone();
            digest.map(|digest| UseKey { issuer, digest })
        };
        let keys = shown.iter().filter_map(|(_, digest)| key(*digest));
        let seen = self.shared.uses_seen(keys.collect()).await;
        for (shown, digest) in shown {
            shown.used = key(*digest).and_then(|key| seen.get(&key).map(CredentialUse::of));
        }
    }

    /// One issued credential.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn issued_credential(&self, id: &str) -> Result<IssuedCredential> {
        let (_, issued) = self.issued_record(id).await?;
        let mut shown = [(self.issued_view(id, &issued), issued.use_digest)];
        self.look_up_uses(&mut shown).await;
        let [(shown, _)] = shown;
        Ok(shown)
    }

    /// Which credential this is: its type and its number in the status list. It says nothing about the holder.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn issued_name(&self, id: &str) -> Result<String> {
        let (_, issued) = self.issued_record(id).await?;
        Ok(format!("{} {}", issued.type_id, issued.place.index))
    }

    pub(super) async fn issued_record(&self, id: &str) -> Result<(u64, IssuedRecord)> {
        let record = self.shared.store.read(self.tenant(), ISSUED, id).await?;
        let record = record.ok_or_else(unknown)?;
        Ok((record.version, decode(&record.value)?))
    }

    /// Revokes or suspends a credential, or lifts a suspension. Returns when the change is durable; the changed list is
    /// published within a second.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` for a revoked credential, which stays revoked.
    pub async fn set_status(&self, id: &str, status: CredentialStatus) -> Result<IssuedCredential> {
        for _ in 0..RACES_MAX {
            let (version, mut issued) = self.issued_record(id).await?;
            if !self.turn(&mut issued, status).await? {
                return Ok(self.issued_view(id, &issued));
            }
            let batch = Batch::new(self.tenant().clone());
            let batch = issued.written_in(batch, id, version)?;
            let batch = self.told_to_book(batch, id, &issued)?;
            let event = Event::new(EventKind::StatusChanged, id);
            match self.shared.events.commit(batch, event).await {
                Ok(_) => {}
                Err(StoreError::Conflict { .. }) => continue,
                Err(other) => return Err(other.into()),
            }
            self.lists_show(id, &issued).await;
            tracing::info!(credential = id, status = ?status, "status changed");
            return Ok(self.issued_view(id, &issued));
        }
        Err(changing())
    }

    /// Gives a record this status; returns whether it had another one.
    ///
    /// # Errors
    /// `Conflict` for a revoked credential, and for a status that its type rules out.
    pub(super) async fn turn(
        &self,
        issued: &mut IssuedRecord,
        status: CredentialStatus,
    ) -> Result<bool> {
        if issued.status == status {
            return Ok(false);
        }
        if issued.status == CredentialStatus::Revoked {
            return Err(Error::new(ErrorKind::Conflict, "credential-revoked"));
        }
        self.allows(issued, status).await?;
        issued.status = status;
        Ok(true)
    }

    /// Makes the lists show a status that was committed.
    pub(super) async fn lists_show(&self, id: &str, issued: &IssuedRecord) {
        if self.lists.show(id).await.is_err() {
            self.lists.set(&issued.place, issued.status);
        }
    }

    /// Refuses a status that the type of the credential rules out. A type that is not known any more rules nothing out.
    async fn allows(&self, issued: &IssuedRecord, status: CredentialStatus) -> Result<()> {
        let types = self.context.types_now().await?;
        let found = match issued.version {
            Some(version) => types.at(&issued.type_id, version),
            None => types.newest(&issued.type_id),
        };
        match (found, status) {
            (Some(one), CredentialStatus::Revoked) if !one.revocable => {
                Err(Error::new(ErrorKind::Conflict, "type-not-revocable").with("type", &one.id))
            }
            (Some(one), CredentialStatus::Suspended) if !one.suspendable => {
                Err(Error::new(ErrorKind::Conflict, "type-not-suspendable").with("type", &one.id))
            }
            _ => Ok(()),
        }
    }

    /// Whether the served lists show this status. A credential of a format that is no longer known counts as not shown.
    fn is_published(&self, record: &IssuedRecord) -> bool {
        let list = record.place.list;
        (record.kind()).is_some_and(|kind| self.lists.is_published(list, kind))
    }

    pub(super) fn issued_view(&self, id: &str, record: &IssuedRecord) -> IssuedCredential {
        IssuedCredential {
            id: id.to_owned(),
            type_id: record.type_id.clone(),
            format: record.format.clone(),
            offer: record.offer.clone(),
            issued: record.issued.rfc3339(),
            expires: record.expires.rfc3339(),
            status: record.status,
            published: self.is_published(record),
            status_list: match record.kind() {
                Some(kind) => self.lists.uri_for(record.place.list, kind),
                None => self.lists.uri(record.place.list, ListFace::Token),
            },
            status_index: record.place.index,
            status_ttl: self.lists.ttl(),
            label: record.label.clone(),
            kept: record.kept.clone(),
            used: None,
        }
    }
}

/// The tag of the copies of the credential that an entry of a credential book has.
pub(super) fn of_entry(entry: &str) -> Tag {
    Tag::hashed("entry", entry)
}

/// The tag of the credentials whose reference has this word.
fn of_word(word: String) -> Tag {
    Tag::hashed("word", word)
}

fn use_digest(claims: &Map<String, Value>) -> Option<[u8; 32]> {
    let claim = claims.get(single_use::CLAIM)?;
    let payload = json!({ single_use::CLAIM: claim });
    let reference = Reference::in_payload(&payload).ok().flatten()?;
    Some(reference.digest)
}

pub(super) fn changing() -> Error {
    Error::new(ErrorKind::Conflict, "status-changing")
}

fn unknown() -> Error {
    Error::not_found("credential-not-issued")
}
