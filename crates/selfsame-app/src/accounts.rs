//! People's accounts: registering, signing in, sessions, and the limits on guessing.

mod attempts;
mod invitations;
mod wanted;
mod whence;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding, hash, password};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{decode, encode};
use crate::shared::Shared;
use crate::view::wallet::{NewSession, Person};

use attempts::Attempts;
pub use whence::{KNOWN_SECONDS, Whence};

const ACCOUNT: &str = "account";
/// What the tenants of people begin with.
pub(crate) const PERSON: &str = "person-";
pub(crate) const SESSION: &str = "session";
const SESSION_SECONDS: u64 = 12 * 3600;
const SESSIONS_CACHED_MAX: usize = 8192;

/// The accounts of one instance.
pub struct Accounts {
    shared: Arc<Shared>,
    sessions: Mutex<Sessions>,
    attempts: Attempts,
    /// What an unknown address is checked against, so that it takes as long as a known one.
    decoy: OnceLock<String>,
}

#[derive(Deserialize, Serialize)]
struct Account {
    tenant: TenantId,
    email: String,
    password: String,
}

/// Sessions that need not be read again.
#[derive(Default)]
struct Sessions {
    open: HashMap<String, (Person, UnixTime)>,
    /// How many were ended: what was read before the last one ended may be that one.
    ended: u64,
}

#[derive(Deserialize, Serialize)]
struct SessionRecord {
    tenant: TenantId,
    email: String,
}

impl Accounts {
    /// The accounts in this store.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            sessions: Mutex::default(),
            attempts: Attempts::default(),
            decoy: OnceLock::new(),
        }
    }

    /// Makes an account and signs its person in.
    ///
    /// # Errors
    /// `BadRequest` for an address or password that cannot serve, `Conflict` for an address that has an account,
    /// `Forbidden` where not everybody may make one.
    pub async fn register(&self, email: &str, password: SecretString) -> Result<NewSession> {
        self.register_invited(email, password, None).await
    }

    /// The same for who may have an invitation.
    ///
    /// # Errors
    /// As [`Accounts::register`]; an invitation that is of no use is `Forbidden`, also for an address that has an
    /// account.
    pub async fn register_invited(
        &self,
        email: &str,
        password: SecretString,
        invitation: Option<&str>,
    ) -> Result<NewSession> {
        let batch = Batch::new(TenantId::instance());
        let batch = self.admitted(batch, invitation).await?;
        let email = wanted::address(email)?;
        wanted::password(&password, &email)?;
        let hashed = self
            .shared
            .work
            .run(move || password::hash(&password))
            .await?
            .map_err(Error::internal)?;
        let tenant = TenantId::parse(&format!(
            "{PERSON}{}",
            self.shared.clock.ctx().token("tenant")
        ))?;
        let account = Account {
            tenant: tenant.clone(),
            email: email.clone(),
            password: hashed,
        };
        let id = account_id(&email);
        let batch = batch.expect(ACCOUNT, &id, Expect::Absent).put(Put::new(
            ACCOUNT,
            &id,
            encode(&account)?,
        ));
        match self.shared.store.commit(batch).await {
            Ok(_) => self.open_session(tenant, email).await,
            // Whoever has an invitation, which stays good, is not told whose address has an account.
            Err(StoreError::Conflict { .. }) if self.is_by_invitation() => {
                Err(invitations::useless())
            }
            Err(StoreError::Conflict { kind, .. }) if kind == ACCOUNT => Err(Error::new(
                ErrorKind::Conflict,
                "this address already has an account",
            )
            .with_hint("sign in, or use another address")),
            Err(other) => Err(other.into()),
        }
    }

    /// Signs a person in.
    ///
    /// # Errors
    /// `Unauthenticated` whether the address or the password is wrong. `TooMany` for who has sent ten wrong ones for one
    /// account, from one neighbourhood; fifty in an hour from one address, whatever the account; or where browsers that
    /// are not known to the account have sent a hundred wrong ones in an hour, from wherever: each further one costs time,
    /// up to half a minute; and for a moment while so many are looked at. A device that has signed in to the account
    /// before is slowed down by its own wrong ones alone.
    pub async fn sign_in(
        &self,
        email: &str,
        password: SecretString,
        whence: &Whence,
    ) -> Result<NewSession> {
        let email = plain(email)?;
        let id = account_id(&email);
        let known = whence.device(&self.device_key().await?, &id, self.shared.clock.now());
        let keys = whence.keys(&id, known);
        let attempt = self.attempts.begin(keys, self.shared.clock.now())?;
        let Some(account) = self.matching(&id, password).await? else {
            attempt.was_wrong(self.shared.clock.now());
            tracing::warn!(reason = "wrong e-mail or password", "sign-in refused");
            return Err(
                Error::new(ErrorKind::Unauthenticated, "wrong e-mail or password")
                    .with_hint("create a wallet on the page /wallet"),
            );
        };
        attempt.was_right();
        self.open_session(account.tenant, account.email).await
    }

    /// What a browser keeps, for [`KNOWN_SECONDS`], once it has signed in to the account of this address: by that it is
    /// known again. `before` is what it has kept so far.
    ///
    /// # Errors
    /// `BadRequest` for what is no address, and the store's.
    pub async fn know_device(&self, email: &str, before: Option<&str>) -> Result<String> {
        let id = account_id(&plain(email)?);
        let ctx = self.shared.clock.ctx();
        let device = (ctx.random("device"), ctx.now());
        let key = self.device_key().await?;
        Ok(whence::remembered(&key, &id, device, before))
    }

    async fn device_key(&self) -> Result<SealingKey> {
        self.shared.instance_key("known devices").await
    }

    /// The account, if the password is its. An unknown one takes as long as a wrong password: one Argon2 run.
    async fn matching(&self, id: &str, password: SecretString) -> Result<Option<Account>> {
        let instance = TenantId::instance();
        let store = &self.shared.store;
        let account = store
            .read(&instance, ACCOUNT, id)
            .await?
            .map(|record| decode::<Account>(&record.value))
            .transpose()?;
        let expected = match (&account, self.decoy.get()) {
            (Some(account), _) => account.password.clone(),
            (None, Some(decoy)) => decoy.clone(),
            (None, None) => {
                // The first time, making what is compared with takes the time of comparing.
                self.make_decoy().await?;
                return Ok(None);
            }
        };
        let work = &self.shared.work;
        let right = work
            .run(move || password::verify(&expected, &password))
            .await?;
        Ok(account.filter(|_| right))
    }

    /// The person of a session token.
    ///
    /// # Errors
    /// `Unauthenticated` if the session is unknown or over.
    pub async fn person(&self, token: &str) -> Result<Person> {
        let id = session_id(token);
        let now = self.shared.clock.now();
        let (cached, ended) = self.cached(&id);
        if let Some((person, expires)) = cached
            && now < expires
        {
            return Ok(person);
        }
        let over = || {
            Error::new(ErrorKind::Unauthenticated, "your session has ended")
                .with_hint("sign in again")
        };
        let store = &self.shared.store;
        let record = store
            .read(&TenantId::instance(), SESSION, &id)
            .await?
            .ok_or_else(over)?;
        let expires = record.expires.filter(|expires| now < *expires);
        let expires = expires.ok_or_else(over)?;
        let session: SessionRecord = decode(&record.value)?;
        let person = Person {
            tenant: session.tenant,
            email: session.email,
            session: id,
        };
        self.remember(&person, expires, ended);
        Ok(person)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The store's.
    pub async fn sign_out(&self, token: &str) -> Result<()> {
        let id = session_id(token);
        self.shared
            .store
            .commit(Batch::new(TenantId::instance()).delete(SESSION, &id))
            .await?;
        // After the record, and noted: whoever read it before must not remember it now.
        if let Ok(mut sessions) = self.sessions.lock() {
            sessions.open.remove(&id);
            sessions.ended = sessions.ended.wrapping_add(1);
        }
        Ok(())
    }

    async fn open_session(&self, tenant: TenantId, email: String) -> Result<NewSession> {
        let ctx = self.shared.clock.ctx();
        let token = ctx.token("session");
        let id = session_id(&token);
        let expires = ctx.now().plus(SESSION_SECONDS);
        let record = SessionRecord {
            tenant: tenant.clone(),
            email: email.clone(),
        };
        let put = Put::new(SESSION, &id, encode(&record)?).expires(expires);
        self.shared
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
        let nobody = SecretString::new(self.shared.clock.ctx().token("decoy"));
        let hashed = self
            .shared
            .work
            .run(move || password::hash(&nobody))
            .await?;
        // Another one may have been made meanwhile, and is as good.
        let _ = self.decoy.set(hashed.map_err(Error::internal)?);
        Ok(())
    }

    /// The session, if it need not be read, and how many were ended so far.
    fn cached(&self, id: &str) -> (Option<(Person, UnixTime)>, u64) {
        match self.sessions.lock() {
            Ok(sessions) => (sessions.open.get(id).cloned(), sessions.ended),
            Err(_) => (None, 0),
        }
    }

    /// Keeps a session in memory, unless one was ended since it was read.
    fn remember(&self, person: &Person, expires: UnixTime, ended: u64) {
        let Ok(mut sessions) = self.sessions.lock() else {
            return;
        };
        if sessions.ended != ended {
            return;
        }
        if sessions.open.len() >= SESSIONS_CACHED_MAX {
            let now = self.shared.clock.now();
            sessions.open.retain(|_, (_, expires)| now < *expires);
        }
        if sessions.open.len() >= SESSIONS_CACHED_MAX {
            // Any half will do: what is needed again is read again.
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

/// The address as accounts are kept under it. Those of earlier builds may be such as nobody gets any more.
fn plain(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    match email.len() <= wanted::ADDRESS_MAX && email.contains('@') {
        true => Ok(email),
        false => Err(wanted::no_address()),
    }
}

fn account_id(email: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"account\0", email.as_bytes()]))
}

fn session_id(token: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"session\0", token.as_bytes()]))
}
