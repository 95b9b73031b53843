//! People's accounts: registration, sign-in, sessions, and the limits on password guessing.
//!
//! Owns: who a person is, by password, passkey and session, and who may join. Does not own: what a person keeps, cookies, pages.

mod attempts;
mod invitations;
mod passkeys;
mod wanted;
mod whence;

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding, hash, password};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::instance_key;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{CpuPool, Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use attempts::Attempts;
pub use passkeys::{PasskeyOwner, PasskeySignIn, PasskeyView};
pub use whence::{KNOWN_SECONDS, Whence};

/// The prefix of people's tenants.
pub const PERSON: &str = "person-";
/// The kind of the records of sessions.
pub const SESSION: &str = "session";
/// The kind of the records of operators' accounts.
const OPERATOR: &str = "operator_account";
/// The kind of the records of operators' sessions.
pub const OPERATOR_SESSION: &str = "operator_account_session";
const SESSION_SECONDS: u64 = 12 * 3600;
const SESSIONS_CACHED_MAX: usize = 8192;

/// The parts that accounts are built on.
pub struct AccountsParts {
    /// The store.
    pub store: Store,
    /// Time and randomness.
    pub clock: Clock,
    /// The pool that passwords are hashed in.
    pub work: CpuPool,
    /// The origin of the pages, for links.
    pub origin: Url,
    /// Who may create a wallet.
    pub registration: Registration,
}

/// Who may create a wallet.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// Anyone.
    Open,
    /// Anyone with an invitation link from the operator.
    Invite,
    /// No one. Existing wallets stay open.
    Closed,
}

/// A new session of a person.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct NewSession {
    /// The bearer token, for a cookie or an `Authorization` header.
    pub token: String,
    /// Seconds until it ends.
    pub expires_in: u64,
}

/// An invitation to create a wallet.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct Invitation {
    /// The page on which the wallet is created.
    pub link: String,
    /// The invitation itself, for programs to send.
    pub invitation: String,
    /// Seconds until it expires.
    pub expires_in: u64,
}

/// A person who has signed in.
#[derive(Clone, Debug)]
pub struct Person {
    /// The tenant that holds their data.
    pub tenant: TenantId,
    /// Their e-mail address.
    pub email: String,
    /// The session's hash, which forms are bound to.
    pub session: String,
}

/// Whose accounts they are. The accounts of one realm mean nothing in another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Realm {
    /// People with a wallet.
    Wallets,
    /// People who work for an organisation.
    Operators,
}

impl Realm {
    /// The kind of the records of accounts.
    const fn account(self) -> &'static str {
        match self {
            Self::Wallets => "account",
            Self::Operators => OPERATOR,
        }
    }

    /// The kind of the records of sessions.
    const fn session(self) -> &'static str {
        match self {
            Self::Wallets => SESSION,
            Self::Operators => OPERATOR_SESSION,
        }
    }

    /// The purpose of the key that recognises devices.
    const fn devices(self) -> &'static str {
        match self {
            Self::Wallets => "known devices",
            Self::Operators => "known devices of operators",
        }
    }
}

/// The accounts of one instance.
pub struct Accounts {
    parts: AccountsParts,
    realm: Realm,
    sessions: Mutex<Sessions>,
    attempts: Attempts,
    /// A hash that passwords for unknown addresses are checked against, so that both checks take equally long.
    decoy: OnceLock<String>,
}

/// What came of creating an account.
pub enum Created {
    /// The account exists, and its person is signed in.
    Account(NewSession),
    /// A record of this kind was not as expected, that of the account or one of the batch. Nothing was written.
    Conflict(String),
}

#[derive(Deserialize, Serialize)]
struct Account {
    tenant: TenantId,
    email: String,
    password: String,
}

/// Sessions cached in memory.
#[derive(Default)]
struct Sessions {
    open: HashMap<String, (Person, UnixTime)>,
    /// Number of sessions ended: a session read before the last increment may be the one that ended.
    ended: u64,
}

#[derive(Deserialize, Serialize)]
struct SessionRecord {
    tenant: TenantId,
    email: String,
}

impl Accounts {
    /// The accounts of people with a wallet, in this instance's store.
    #[must_use]
    pub fn new(parts: AccountsParts) -> Self {
        Self::of(Realm::Wallets, parts)
    }

    /// The accounts of a realm, in this instance's store.
    #[must_use]
    pub fn of(realm: Realm, parts: AccountsParts) -> Self {
        Self {
            parts,
            realm,
            sessions: Mutex::default(),
            attempts: Attempts::default(),
            decoy: OnceLock::new(),
        }
    }

    /// Creates an account and signs its person in.
    ///
    /// # Errors
    /// `BadRequest` for an unusable address or password, `Conflict` for an address that has an account, `Forbidden` if
    /// not everyone may register.
    pub async fn register(&self, email: &str, password: SecretString) -> Result<NewSession> {
        self.register_invited(email, password, None).await
    }

    /// Like [`Accounts::register`], for a person who may have an invitation.
    ///
    /// # Errors
    /// Those of [`Accounts::register`]; an invalid invitation is `Forbidden`, also for an address that has an account.
    pub async fn register_invited(
        &self,
        email: &str,
        password: SecretString,
        invitation: Option<&str>,
    ) -> Result<NewSession> {
        let batch = Batch::new(TenantId::instance());
        let batch = self.admitted(batch, invitation).await?;
        match self.create(email, password, batch).await? {
            Created::Account(session) => Ok(session),
            // An invitation stays valid here, so its owner must not learn which addresses have accounts.
            Created::Conflict(_) if self.is_by_invitation() => Err(invitations::useless()),
            Created::Conflict(kind) if kind == self.realm.account() => {
                Err(Error::new(ErrorKind::Conflict, "account-exists"))
            }
            Created::Conflict(_) => Err(Error::new(ErrorKind::Conflict, "changed-meanwhile")),
        }
    }

    /// Creates an account in the commit of `batch`, and signs its person in.
    ///
    /// # Errors
    /// `BadRequest` for an unusable address or password; the store's, except conflicts.
    pub async fn create(
        &self,
        email: &str,
        password: SecretString,
        batch: Batch,
    ) -> Result<Created> {
        let email = wanted::address(email)?;
        wanted::password(&password, &email)?;
        let hashed = self
            .parts
            .work
            .run(move || password::hash(&password))
            .await?
            .map_err(Error::internal)?;
        let tenant = TenantId::parse(&format!(
            "{PERSON}{}",
            self.parts.clock.ctx().token("tenant")
        ))?;
        let account = Account {
            tenant: tenant.clone(),
            email: email.clone(),
            password: hashed,
        };
        let (kind, id) = (self.realm.account(), account_id(&email));
        let put = Put::new(kind, &id, encode(&account)?);
        let batch = batch.expect(kind, &id, Expect::Absent).put(put);
        match self.parts.store.commit(batch).await {
            Ok(_) => Ok(Created::Account(self.open_session(tenant, email).await?)),
            Err(StoreError::Conflict { kind, .. }) => Ok(Created::Conflict(kind)),
            Err(other) => Err(other.into()),
        }
    }

    /// Adds the deletion of the account with this address, and of its passkeys, to a batch. Its sessions count for
    /// nothing once [`Self::forget`] was called, or by themselves after twelve hours.
    ///
    /// # Errors
    /// The store's.
    pub async fn deletion(&self, batch: Batch, email: &str) -> Result<Batch> {
        let batch = batch.for_tenant(TenantId::instance());
        let id = account_id(email);
        let batch = self.without_passkeys(batch, &id).await?;
        Ok(batch.delete(self.realm.account(), &id))
    }

    /// Forgets the sessions of a tenant whose account was deleted.
    pub fn forget(&self, tenant: &TenantId) {
        if let Ok(mut sessions) = self.sessions.lock() {
            sessions
                .open
                .retain(|_, (person, _)| person.tenant != *tenant);
            sessions.ended = sessions.ended.wrapping_add(1);
        }
    }

    /// Whether an address has an account. For callers whose right to ask was checked.
    ///
    /// # Errors
    /// `BadRequest` for an invalid address, and the store's.
    pub async fn has(&self, email: &str) -> Result<bool> {
        let (instance, id) = (TenantId::instance(), account_id(&plain(email)?));
        let found = self
            .parts
            .store
            .version(&instance, self.realm.account(), &id);
        Ok(found.await?.is_some())
    }

    /// Signs a person in.
    ///
    /// # Errors
    /// `Unauthenticated` whether the address or the password is wrong. `TooMany` after ten wrong passwords for one
    /// account from one neighbourhood; after fifty in an hour from one address, for any accounts; or after a hundred in
    /// an hour from browsers that are not known to the account, from anywhere. Each further wrong one then costs time,
    /// up to half a minute. `TooMany` also for a moment while too many are being checked. A device that has signed in
    /// to the account before is slowed down only by its own wrong passwords.
    pub async fn sign_in(
        &self,
        email: &str,
        password: SecretString,
        whence: &Whence,
    ) -> Result<NewSession> {
        let account = self.proven(email, password, whence).await?;
        self.open_session(account.tenant, account.email).await
    }

    /// Checks the password of an account without signing anybody in. Returns the account's tenant, by which it is known
    /// for good.
    ///
    /// # Errors
    /// Those of [`Accounts::sign_in`].
    pub async fn prove(
        &self,
        email: &str,
        password: SecretString,
        whence: &Whence,
    ) -> Result<TenantId> {
        Ok(self.proven(email, password, whence).await?.tenant)
    }

    /// The tenant of the account of an address; `None` if it has none. The caller must not reveal which it is.
    ///
    /// # Errors
    /// `BadRequest` for an invalid address, and the store's.
    pub async fn tenant_of(&self, email: &str) -> Result<Option<TenantId>> {
        let (instance, id) = (TenantId::instance(), account_id(&plain(email)?));
        let read = self.parts.store.read(&instance, self.realm.account(), &id);
        let account = read.await?.map(|record| decode::<Account>(&record.value));
        Ok(account.transpose()?.map(|account| account.tenant))
    }

    /// Checks the password of a person who is signed in, before something that a session alone must not allow.
    ///
    /// # Errors
    /// Those of [`Accounts::sign_in`].
    pub async fn confirm(
        &self,
        person: &Person,
        password: SecretString,
        whence: &Whence,
    ) -> Result<()> {
        let account = self.proven(&person.email, password, whence).await?;
        match account.tenant == person.tenant {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Unauthenticated, "sign-in-wrong")),
        }
    }

    /// The account of this address, if the password is its own.
    async fn proven(
        &self,
        email: &str,
        password: SecretString,
        whence: &Whence,
    ) -> Result<Account> {
        let email = plain(email)?;
        let id = account_id(&email);
        let known = whence.device(&self.device_key().await?, &id, self.parts.clock.now());
        let keys = whence.keys(&id, known);
        let attempt = self.attempts.begin(keys, self.parts.clock.now())?;
        let Some(account) = self.matching(&id, password).await? else {
            attempt.was_wrong(self.parts.clock.now());
            tracing::warn!(reason = "wrong e-mail or password", "sign-in refused");
            return Err(Error::new(ErrorKind::Unauthenticated, "sign-in-wrong"));
        };
        attempt.was_right();
        Ok(account)
    }

    /// The token that a browser keeps for [`KNOWN_SECONDS`] after signing in to the account of this address, and is
    /// recognised by. `before` is the token it has kept so far.
    ///
    /// # Errors
    /// `BadRequest` for an invalid address, and the store's.
    pub async fn know_device(&self, email: &str, before: Option<&str>) -> Result<String> {
        let id = account_id(&plain(email)?);
        let ctx = self.parts.clock.ctx();
        let key = self.device_key().await?;
        Ok(whence::remembered(
            &key,
            &id,
            ctx.random("device"),
            ctx.now(),
            before,
        ))
    }

    async fn device_key(&self) -> Result<SealingKey> {
        instance_key(&self.parts.store, &self.parts.clock, self.realm.devices()).await
    }

    /// The account, if the password matches. An unknown address takes as long as a wrong password: one Argon2 run.
    async fn matching(&self, id: &str, password: SecretString) -> Result<Option<Account>> {
        let account = self.account(id).await?;
        let expected = match (&account, self.decoy.get()) {
            (Some(account), _) => account.password.clone(),
            (None, Some(decoy)) => decoy.clone(),
            (None, None) => {
                // The first time, creating the decoy hash takes as long as comparing with it.
                self.make_decoy().await?;
                return Ok(None);
            }
        };
        let work = &self.parts.work;
        let right = work
            .run(move || password::verify(&expected, &password))
            .await?;
        Ok(account.filter(|_| right))
    }

    /// The account with this id.
    async fn account(&self, id: &str) -> Result<Option<Account>> {
        let instance = TenantId::instance();
        let found = self.parts.store.read(&instance, self.realm.account(), id);
        let found = found.await?;
        found.map(|record| decode(&record.value)).transpose()
    }

    /// The person that a session token belongs to.
    ///
    /// # Errors
    /// `Unauthenticated` if the session is unknown or has ended.
    pub async fn person(&self, token: &str) -> Result<Person> {
        let id = session_id(token);
        let now = self.parts.clock.now();
        let (cached, ended) = self.cached(&id);
        if let Some((person, expires)) = cached
            && now < expires
            && self.is_open(&id).await?
        {
            return Ok(person);
        }
        let over = || Error::new(ErrorKind::Unauthenticated, "session-ended");
        let store = &self.parts.store;
        let record = store
            .read(&TenantId::instance(), self.realm.session(), &id)
            .await?
            .ok_or_else(over)?;
        let expires = record.expires.filter(|expires| now < *expires);
        let expires = expires.ok_or_else(over)?;
        let session: SessionRecord = decode(&record.value)?;
        // The account may have been deleted, and made again, since.
        let account = self.account(&account_id(&session.email)).await?;
        if account.is_none_or(|account| account.tenant != session.tenant) {
            return Err(over());
        }
        let person = Person {
            tenant: session.tenant,
            email: session.email,
            session: id,
        };
        self.remember(&person, expires, ended);
        Ok(person)
    }

    /// Whether a session that is cached here was ended by no other process.
    async fn is_open(&self, id: &str) -> Result<bool> {
        let store = &self.parts.store;
        let kind = self.realm.session();
        Ok(!store.is_shared()
            || store
                .version(&TenantId::instance(), kind, id)
                .await?
                .is_some())
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The store's.
    pub async fn sign_out(&self, token: &str) -> Result<()> {
        let id = session_id(token);
        self.parts
            .store
            .commit(Batch::new(TenantId::instance()).delete(self.realm.session(), &id))
            .await?;
        // After the record is deleted, and counted: a reader that read the record earlier must not cache it now.
        if let Ok(mut sessions) = self.sessions.lock() {
            sessions.open.remove(&id);
            sessions.ended = sessions.ended.wrapping_add(1);
        }
        Ok(())
    }

    async fn open_session(&self, tenant: TenantId, email: String) -> Result<NewSession> {
        let ctx = self.parts.clock.ctx();
        let token = ctx.token("session");
        let id = session_id(&token);
        let expires = ctx.now().plus(SESSION_SECONDS);
        let record = SessionRecord {
            tenant: tenant.clone(),
            email: email.clone(),
        };
        let put = Put::new(self.realm.session(), &id, encode(&record)?).expires(expires);
        self.parts
            .store
            .commit(Batch::new(TenantId::instance()).put(put))
            .await?;
        let (_, ended) = self.cached(&id);
        let person = Person {
            tenant,
            email,
            session: id,
        };
        self.remember(&person, expires, ended);
        Ok(NewSession {
            token,
            expires_in: SESSION_SECONDS,
        })
    }

    async fn make_decoy(&self) -> Result<()> {
        let decoy = SecretString::new(self.parts.clock.ctx().token("decoy"));
        let hashed = self.parts.work.run(move || password::hash(&decoy)).await?;
        // Another request may have set one meanwhile; either serves.
        let _ = self.decoy.set(hashed.map_err(Error::internal)?);
        Ok(())
    }

    /// The session, if it is cached, and the number of sessions ended so far.
    fn cached(&self, id: &str) -> (Option<(Person, UnixTime)>, u64) {
        match self.sessions.lock() {
            Ok(sessions) => (sessions.open.get(id).cloned(), sessions.ended),
            Err(_) => (None, 0),
        }
    }

    /// Caches a session, unless one was ended since it was read.
    fn remember(&self, person: &Person, expires: UnixTime, ended: u64) {
        let Ok(mut sessions) = self.sessions.lock() else {
            return;
        };
        if sessions.ended != ended {
            return;
        }
        if sessions.open.len() >= SESSIONS_CACHED_MAX {
            let now = self.parts.clock.now();
            sessions.open.retain(|_, (_, expires)| now < *expires);
        }
        if sessions.open.len() >= SESSIONS_CACHED_MAX {
            // Drops every other session; a dropped one is read again when needed.
            let mut keep = false;
            sessions.open.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
        let value = (person.clone(), expires);
        sessions.open.insert(person.session.clone(), value);
    }
}

/// The address as accounts are stored under it. Accounts of earlier builds may have addresses that are refused today.
fn plain(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    match email.len() <= wanted::ADDRESS_MAX && email.contains('@') {
        true => Ok(email),
        false => Err(wanted::no_address()),
    }
}

/// The id of the account of an address that is stored as it is.
#[must_use]
pub fn account_id(email: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"account\0", email.as_bytes()]))
}

fn session_id(token: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"session\0", token.as_bytes()]))
}
