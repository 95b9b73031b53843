//! People's accounts: registering, signing in, sessions, and the limits on guessing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding, hash, password};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::view::wallet::{NewSession, Person};

const ACCOUNT: &str = "account";
pub(crate) const SESSION: &str = "session";
const SESSION_SECONDS: u64 = 12 * 3600;
const SESSIONS_CACHED_MAX: usize = 8192;

/// Wrong passwords for one account within the window below.
const ATTEMPTS_MAX: u32 = 10;
/// Wrong passwords from one peer, which may be the door of a whole hospital.
const ATTEMPTS_OF_PEER_MAX: u32 = 50;
const ATTEMPTS_WINDOW: u64 = 15 * 60;
const ATTEMPTS_TRACKED_MAX: usize = 65_536;

/// The accounts of one instance.
pub struct Accounts {
    shared: Arc<Shared>,
    sessions: Mutex<Sessions>,
    attempts: Mutex<Tried>,
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

struct Attempts {
    failed: u32,
    since: UnixTime,
    /// Those whose password is being looked at.
    pending: u32,
}

/// One attempt, which counts among its account's and its peer's for as long as it is looked at. Whoever goes away
/// meanwhile learns nothing about the password, and nothing is counted.
struct Attempt<'a> {
    accounts: &'a Accounts,
    of_account: String,
    of_peer: String,
}

impl Accounts {
    /// The accounts in this store.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            sessions: Mutex::default(),
            attempts: Mutex::default(),
            decoy: OnceLock::new(),
        }
    }

    /// Makes an account and signs its person in.
    ///
    /// # Errors
    /// `BadRequest` for an address or password that cannot serve, `Conflict` for an address that has an account.
    pub async fn register(&self, email: &str, password: SecretString) -> Result<NewSession> {
        let email = normalised(email)?;
        check_password(&password)?;
        let hashed = self
            .shared
            .work
            .run(move || password::hash(&password))
            .await?
            .map_err(Error::internal)?;
        let tenant = TenantId::parse(&format!(
            "person-{}",
            self.shared.clock.ctx().token("tenant")
        ))?;
        let account = Account {
            tenant: tenant.clone(),
            email: email.clone(),
            password: hashed,
        };
        let id = account_id(&email);
        let batch = Batch::new(TenantId::instance())
            .expect(ACCOUNT, &id, Expect::Absent)
            .put(Put::new(ACCOUNT, &id, encode(&account)?));
        match self.shared.store.commit(batch).await {
            Ok(_) => self.open_session(tenant, email).await,
            Err(StoreError::Conflict { .. }) => Err(Error::new(
                ErrorKind::Conflict,
                "there is an account with this address already",
            )
            .with_hint("sign in, or use another address")),
            Err(other) => Err(other.into()),
        }
    }

    /// Signs a person in.
    ///
    /// # Errors
    /// `Unauthenticated` whether the address or the password is wrong, `TooMany` after ten wrong ones for one account
    /// or fifty from one peer, and for a moment while so many are looked at.
    pub async fn sign_in(
        &self,
        email: &str,
        password: SecretString,
        peer: &str,
    ) -> Result<NewSession> {
        let email = normalised(email)?;
        let id = account_id(&email);
        let attempt = self.attempt(format!("account {id}"), format!("peer {peer}"))?;
        let Some(account) = self.matching(&id, password).await? else {
            attempt.was_wrong();
            tracing::warn!(reason = "wrong address or password", "sign-in refused");
            return Err(Error::new(
                ErrorKind::Unauthenticated,
                "the address or the password is wrong",
            )
            .with_hint("a wallet is made on the page /wallet"));
        };
        attempt.was_right();
        self.open_session(account.tenant, account.email).await
    }

    /// The account, if the password is its. An unknown one takes as long as a wrong password: one Argon2 run.
    async fn matching(&self, id: &str, password: SecretString) -> Result<Option<Account>> {
        let instance = TenantId::instance();
        let account = self
            .shared
            .store
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
            Error::new(ErrorKind::Unauthenticated, "your session is over")
                .with_hint("sign in again")
        };
        let record = self
            .shared
            .store
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

    /// Looks and counts in one go, before the password is looked at: of attempts made at once no two see the same
    /// number.
    fn attempt(&self, of_account: String, of_peer: String) -> Result<Attempt<'_>> {
        let now = self.shared.clock.now();
        let mut attempts = self.attempts.lock().map_err(|_| uncountable())?;
        is_open(&attempts, (&of_account, ATTEMPTS_MAX), now)?;
        is_open(&attempts, (&of_peer, ATTEMPTS_OF_PEER_MAX), now)?;
        for key in [&of_account, &of_peer] {
            let tried = counted(&mut attempts, key, now);
            tried.pending = tried.pending.saturating_add(1);
        }
        drop(attempts);
        Ok(Attempt {
            accounts: self,
            of_account,
            of_peer,
        })
    }
}

impl Attempt<'_> {
    fn was_wrong(self) {
        let now = self.accounts.shared.clock.now();
        if let Ok(mut attempts) = self.accounts.attempts.lock() {
            for key in [&self.of_account, &self.of_peer] {
                let tried = counted(&mut attempts, key, now);
                tried.failed = tried.failed.saturating_add(1);
            }
        }
    }

    /// A peer's wrong guesses at others stay counted, whoever has an account of his own.
    fn was_right(self) {
        if let Ok(mut attempts) = self.accounts.attempts.lock()
            && let Some(tried) = attempts.get_mut(&self.of_account)
        {
            tried.failed = 0;
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let Ok(mut attempts) = self.accounts.attempts.lock() else {
            return;
        };
        for key in [&self.of_account, &self.of_peer] {
            if let Some(tried) = attempts.get_mut(key) {
                tried.pending = tried.pending.saturating_sub(1);
                if tried.failed == 0 && tried.pending == 0 {
                    attempts.remove(key);
                }
            }
        }
    }
}

type Tried = HashMap<String, Attempts>;

fn uncountable() -> Error {
    Error::internal("the attempts can't be counted")
}

/// Whether one more may be made.
fn is_open(attempts: &Tried, (key, most): (&str, u32), now: UnixTime) -> Result<()> {
    let Some(tried) = attempts.get(key) else {
        return Ok(());
    };
    let over = tried.since.plus(ATTEMPTS_WINDOW);
    let failed = if now < over { tried.failed } else { 0 };
    if failed >= most {
        let retry_after = over.seconds_since(now);
        return Err(Error::new(
            ErrorKind::TooMany { retry_after },
            "too many wrong passwords",
        )
        .with_hint("wait a while before you try again"));
    }
    if failed.saturating_add(tried.pending) >= most {
        return Err(Error::new(
            ErrorKind::TooMany { retry_after: 1 },
            "too many people sign in at this moment",
        )
        .with_hint("try again in a moment"));
    }
    Ok(())
}

/// What is counted under a key, within the window.
fn counted<'a>(attempts: &'a mut Tried, key: &str, now: UnixTime) -> &'a mut Attempts {
    let over = |tried: &Attempts| now >= tried.since.plus(ATTEMPTS_WINDOW);
    if attempts.len() >= ATTEMPTS_TRACKED_MAX {
        attempts.retain(|_, tried| tried.pending > 0 || !over(tried));
    }
    if attempts.len() >= ATTEMPTS_TRACKED_MAX {
        // Whoever fills this up frees nobody who is locked out.
        attempts.retain(|_, tried| tried.failed >= ATTEMPTS_MAX);
    }
    if attempts.len() >= ATTEMPTS_TRACKED_MAX {
        attempts.clear();
    }
    let fresh = || Attempts {
        failed: 0,
        since: now,
        pending: 0,
    };
    let tried = attempts.entry(key.to_owned()).or_insert_with(fresh);
    if over(tried) {
        tried.failed = 0;
        tried.since = now;
    }
    tried
}

fn normalised(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    let fits = email.len() <= 254
        && !email.chars().any(|c| c.is_whitespace() || c.is_control())
        && email.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && !host.is_empty() && !host.contains('@')
        });
    if fits {
        Ok(email)
    } else {
        Err(Error::bad_request("this is not an e-mail address"))
    }
}

fn check_password(password: &SecretString) -> Result<()> {
    match password.expose().chars().count() {
        0..=9 => Err(Error::bad_request("the password is too short")
            .with_hint("take ten characters or more")),
        10..=256 => Ok(()),
        _ => {
            Err(Error::bad_request("the password is too long")
                .with_hint("take 256 characters at most"))
        }
    }
}

fn account_id(email: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"account\0", email.as_bytes()]))
}

fn session_id(token: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"session\0", token.as_bytes()]))
}

/// A record's value as JSON.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::internal)
}

/// A record's value from JSON.
pub(crate) fn decode<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(Error::internal)
}
