//! API keys: bearer tokens of programs, with rights in one organisation and an expiry.

use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::authority::{Actor, Authority, lacking};
use crate::operators::{Operators, home, of_organisation};
use crate::right::Rights;
use crate::view::{CreatedKey, KeyView, NewKey};

pub(crate) const KEY: &str = "api_key";
/// What each key begins with, so that programs that look for leaked secrets find it.
const PREFIX: &str = "selfsame_";
const NAME_MAX: usize = 100;
const DAYS: u64 = 90;
const DAYS_MAX: u64 = 1_096;
const DAY_SECONDS: u64 = 86_400;
/// How long a key is listed after it expired.
const LISTED_SECONDS: u64 = 30 * DAY_SECONDS;
/// The use of a key is noted at most once in this time.
const NOTED_SECONDS: u64 = 60;

/// A key as kept: never the key itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct KeptKey {
    organisation: OrganisationName,
    name: String,
    rights: Rights,
    creator: String,
    created: UnixTime,
    expires: UnixTime,
    hash: [u8; 32],
    used: Option<UnixTime>,
}

impl KeptKey {
    fn view(&self, id: &str) -> KeyView {
        KeyView {
            id: id.to_owned(),
            name: self.name.clone(),
            scopes: self.rights.into(),
            creator: self.creator.clone(),
            created: self.created.rfc3339(),
            expires: self.expires.rfc3339(),
            used: self.used.map(UnixTime::rfc3339),
        }
    }

    fn put(&self, id: &str) -> Result<Put> {
        Ok(Put::new(KEY, id, encode(self)?)
            .tag(of_organisation(&self.organisation))
            .expires(self.expires.plus(LISTED_SECONDS)))
    }
}

impl Operators {
    /// Creates a key for programs of an organisation.
    ///
    /// # Errors
    /// `BadRequest` for a name, rights or a time that do not fit; `Forbidden` for a right that `by` lacks.
    pub async fn create_key(
        &self,
        by: &Authority,
        organisation: &OrganisationName,
        new: &NewKey,
    ) -> Result<CreatedKey> {
        let name = name(&new.name)?;
        let rights = scopes(by, organisation, new)?;
        let days = new.days.unwrap_or(DAYS);
        if !(1..=DAYS_MAX).contains(&days) {
            return Err(Error::bad_request("key-days-malformed").with("maximum", &DAYS_MAX));
        }
        let ctx = self.clock.ctx();
        let id = hex_encode(&ctx.random::<8>("key/id"));
        let secret = ctx.token("key/secret");
        let kept = KeptKey {
            organisation: organisation.clone(),
            name,
            rights,
            creator: by.actor.name().to_owned(),
            created: ctx.now(),
            expires: ctx.now().plus(days * DAY_SECONDS),
            hash: hashed(&id, &secret),
            used: None,
        };
        let batch = Batch::new(home())
            .expect(KEY, &id, Expect::Absent)
            .put(kept.put(&id)?);
        self.store.commit(batch).await?;
        tracing::info!(%organisation, key = id, "API key created");
        Ok(CreatedKey {
            key: format!("{PREFIX}{id}_{secret}"),
            kept: kept.view(&id),
        })
    }

    /// The keys of an organisation, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn keys(
        &self,
        organisation: &OrganisationName,
        paging: &Paging,
    ) -> Result<Listing<KeyView>> {
        let (home, tag) = (home(), of_organisation(organisation));
        let found = self.store.find(&home, KEY, &tag, &page(paging)).await?;
        listing(&found, paging, |stored| Ok(kept(stored)?.view(&stored.id)))
    }

    /// Revokes a key at once.
    ///
    /// # Errors
    /// `NotFound` for a key that this organisation does not have; `Forbidden` for one with rights that `by` lacks.
    pub async fn revoke_key(
        &self,
        by: &Authority,
        organisation: &OrganisationName,
        id: &str,
    ) -> Result<()> {
        let unknown = || Error::not_found("key-unknown");
        let stored = self.store.read(&home(), KEY, id).await?;
        let stored = stored.ok_or_else(unknown)?;
        let key = kept(&stored)?;
        if key.organisation != *organisation {
            return Err(unknown());
        }
        if let Some(right) = key.rights.beyond(by.rights(organisation))
            && !by.is_administrator()
        {
            return Err(lacking(organisation, right));
        }
        self.store
            .commit(Batch::new(home()).delete(KEY, id))
            .await?;
        tracing::info!(%organisation, key = id, "API key revoked");
        Ok(())
    }

    /// The authority of the program that sends this bearer token; `None` if it is no key, or one that is over.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_key(&self, token: &str) -> Result<Option<Authority>> {
        let Some((id, secret)) = token
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.split_once('_'))
        else {
            return Ok(None);
        };
        let Some(stored) = self.store.read(&home(), KEY, id).await? else {
            return Ok(None);
        };
        let key = kept(&stored)?;
        let now = self.clock.now();
        if !hash::ct_eq(&hashed(id, secret), &key.hash) || key.expires <= now {
            return Ok(None);
        }
        self.note_use(&stored, &key).await?;
        let actor = Actor::Key {
            id: id.to_owned(),
            name: key.name,
        };
        Ok(Some(Authority::key(actor, key.organisation, key.rights)))
    }

    /// Notes that a key was used, unless that was noted lately.
    async fn note_use(&self, stored: &Record, key: &KeptKey) -> Result<()> {
        let now = self.clock.now();
        if key
            .used
            .is_some_and(|used| now.seconds_since(used) < NOTED_SECONDS)
        {
            return Ok(());
        }
        let mut key = key.clone();
        key.used = Some(now);
        let batch = Batch::new(home()).update(KEY, stored, encode(&key)?);
        match self.store.commit(batch.deferred()).await {
            // Another request noted it, or the key was revoked meanwhile.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }
}

/// The rights that `by` may give to a key of this organisation.
fn scopes(by: &Authority, organisation: &OrganisationName, new: &NewKey) -> Result<Rights> {
    let rights: Rights = new.scopes.iter().copied().collect();
    if rights.is_empty() {
        return Err(Error::bad_request("key-scopes-needed"));
    }
    if let Some(right) = rights.iter().find(|right| !right.fits(organisation)) {
        return Err(Error::bad_request("right-elsewhere").with("right", &right));
    }
    match rights.beyond(by.rights(organisation)) {
        Some(right) => Err(lacking(organisation, right)),
        None => Ok(rights),
    }
}

fn name(told: &str) -> Result<String> {
    let name = told.trim();
    let fits = (1..=NAME_MAX).contains(&name.chars().count())
        && !name.chars().any(char::is_control)
        && selfsame_core::view::readable(name) == name;
    match fits {
        true => Ok(name.to_owned()),
        false => Err(Error::bad_request("key-name-malformed").with("maximum", &NAME_MAX)),
    }
}

fn kept(stored: &Record) -> Result<KeptKey> {
    decode(&stored.value)
}

fn hashed(id: &str, secret: &str) -> [u8; 32] {
    hash::sha256_parts(&[b"api key\0", id.as_bytes(), b"\0", secret.as_bytes()])
}
