//! What is kept: the account, the state of each host, and the answers that an authority waits for. All of it is sealed.

use instant_acme::AccountCredentials;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{self, decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, Store, TenantId};
use serde::{Deserialize, Serialize};

use crate::plan::{HostInput, HostState};

/// The kind of the records of turns.
pub(crate) const TURN: &str = "acme_turn";
const ACCOUNT: &str = "acme_account";
const HOST: &str = "acme_host";
const ANSWER: &str = "acme_answer";
/// There is one account at a time.
const ONLY: &str = "account";
/// The version of these forms.
const VERSION: u8 = 1;
/// Seconds for which an authority may ask for an answer.
const ANSWER_SECONDS: u64 = 900;
/// Seconds for which a host is remembered that is no longer served.
const HOST_SECONDS: u64 = 400 * 86_400;

/// An account with an authority.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountRecord {
    version: u8,
    /// The authority's directory.
    pub directory: String,
    /// Whom the authority writes to.
    pub contact: Vec<String>,
    /// The account's URL and its private key.
    pub credentials: AccountCredentials,
}

/// The state of a host, with the stamp of the record that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct HostRecord {
    /// The host.
    pub host: String,
    /// What is known of its certificate.
    pub state: HostState,
    stamp: Option<u64>,
}

/// The stored form of a host's state.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredHost<S> {
    version: u8,
    host: String,
    state: S,
}

/// What proves to an authority that a host is served here.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerRecord {
    version: u8,
    /// The host that is asked for.
    pub host: String,
    /// The challenge's token.
    pub token: String,
    /// The token with the digest of the account's key (RFC 8555 §8.1).
    pub key_authorization: String,
}

impl AccountRecord {
    /// The record of a new account.
    pub fn new(directory: &str, contact: &[String], credentials: AccountCredentials) -> Self {
        Self {
            version: VERSION,
            directory: directory.to_owned(),
            contact: contact.to_vec(),
            credentials,
        }
    }

    /// The account that is kept, if it is with this directory.
    pub async fn read(store: &Store, directory: &str) -> Result<Option<Self>> {
        let kept = store.read(&TenantId::instance(), ACCOUNT, ONLY).await?;
        let kept: Option<Self> = kept.map(|kept| decode(&kept.value)).transpose()?;
        Ok(kept.filter(|kept| kept.directory == directory))
    }

    /// Keeps it in place of any other.
    pub async fn keep(&self, store: &Store) -> Result<()> {
        let put = Put::new(ACCOUNT, ONLY, encode(self)?);
        store
            .commit(Batch::new(TenantId::instance()).put(put))
            .await?;
        Ok(())
    }

    /// Forgets the account.
    pub async fn forget(store: &Store) -> Result<()> {
        let batch = Batch::new(TenantId::instance()).delete(ACCOUNT, ONLY);
        store.commit(batch).await?;
        Ok(())
    }
}

impl HostRecord {
    /// The state of this host; a new one if nothing is known of it.
    pub async fn read(store: &Store, host: &str) -> Result<Self> {
        let kept = store.read(&TenantId::instance(), HOST, host).await?;
        let unknown = Self {
            host: host.to_owned(),
            state: HostState::default(),
            stamp: None,
        };
        kept.map_or(Ok(unknown), |kept| Self::of(&kept))
    }

    /// All hosts of which something is known.
    pub async fn all(store: &Store) -> Result<Vec<Self>> {
        record::all(store, &TenantId::instance(), HOST, Self::of).await
    }

    fn of(kept: &selfsame_store::Record) -> Result<Self> {
        let stored: StoredHost<HostState> = decode(&kept.value)?;
        Ok(Self {
            host: stored.host,
            state: stored.state,
            stamp: Some(kept.version),
        })
    }

    /// Changes with each write; none for a host of which nothing is known.
    pub fn stamp(&self) -> Option<u64> {
        self.stamp
    }

    /// Takes a step and commits it.
    ///
    /// # Errors
    /// The store's; a conflict if another process was faster.
    pub async fn step(&mut self, store: &Store, input: HostInput, ctx: &Ctx) -> Result<()> {
        let state = self.state.clone().step(input, ctx);
        let value = encode(&StoredHost {
            version: VERSION,
            host: self.host.clone(),
            state: &state,
        })?;
        let expected = self.stamp.map_or(Expect::Absent, Expect::Version);
        let put = Put::new(HOST, &self.host, value).expires(ctx.now().plus(HOST_SECONDS));
        let batch = Batch::new(TenantId::instance()).expect(HOST, &self.host, expected);
        let committed = store.commit(batch.put(put)).await?;
        let stamp = committed.versions.first().copied();
        self.stamp = Some(stamp.ok_or_else(|| Error::internal("a write has no version"))?);
        self.state = state;
        Ok(())
    }
}

impl AnswerRecord {
    /// The answer for a host.
    pub fn new(host: &str, token: &str, key_authorization: &str) -> Self {
        Self {
            version: VERSION,
            host: host.to_owned(),
            token: token.to_owned(),
            key_authorization: key_authorization.to_owned(),
        }
    }

    /// Keeps it for as long as an authority may ask.
    pub async fn keep(&self, store: &Store, now: UnixTime) -> Result<()> {
        let put = Put::new(ANSWER, &self.host, encode(self)?);
        let put = put.expires(now.plus(ANSWER_SECONDS));
        store
            .commit(Batch::new(TenantId::instance()).put(put))
            .await?;
        Ok(())
    }

    /// Forgets the answer for a host.
    pub async fn forget(store: &Store, host: &str) -> Result<()> {
        let batch = Batch::new(TenantId::instance()).delete(ANSWER, host);
        store.commit(batch).await?;
        Ok(())
    }

    /// All answers that an authority may ask for.
    pub async fn all(store: &Store) -> Result<Vec<Self>> {
        let read = |kept: &selfsame_store::Record| decode(&kept.value);
        record::all(store, &TenantId::instance(), ANSWER, read).await
    }
}
