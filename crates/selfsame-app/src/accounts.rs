//! People's accounts: registering, signing in, sessions, and the limits on guessing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding, hash, password};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::view::wallet::{NewSession, Person};

const ACCOUNT: &str = "account";
const SESSION: &str = "session";
const SESSION_SECONDS: u64 = 12 * 3600;
const SESSIONS_CACHED_MAX: usize = 8192;

/// Wrong passwords for one account, or from one peer, within the window below.
const ATTEMPTS_MAX: u32 = 10;
const ATTEMPTS_WINDOW: u64 = 15 * 60;
const ATTEMPTS_TRACKED_MAX: usize = 65_536;

/// The accounts of one instance.
pub struct Accounts {
    shared: Arc<Shared>,
    sessions: Mutex<HashMap<String, (Person, UnixTime)>>,
    attempts: Mutex<HashMap<String, Attempts>>,
    /// What an unknown address is checked against, so that it takes as long as a known one.
    decoy: tokio::sync::OnceCell<String>,
}

#[derive(Deserialize, Serialize)]
struct Account {
    tenant: TenantId,
    email: String,
    password: String,
}

#[derive(Deserialize, Serialize)]
struct SessionRecord {
    tenant: TenantId,
    email: String,
}

struct Attempts {
    failed: u32,
    since: UnixTime,
}

impl Accounts {
    /// The accounts in this store.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            sessions: Mutex::default(),
            attempts: Mutex::default(),
            decoy: tokio::sync::OnceCell::new(),
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
    /// `Unauthenticated` whether the address or the password is wrong, `TooMany` after ten wrong ones.
    pub async fn sign_in(
        &self,
        email: &str,
        password: SecretString,
        peer: &str,
    ) -> Result<NewSession> {
        let email = normalised(email)?;
        let id = account_id(&email);
        let keys = [format!("account {id}"), format!("peer {peer}")];
        self.may_try(&keys)?;
        let record = self
            .shared
            .store
            .read(&TenantId::instance(), ACCOUNT, &id)
            .await?;
        let account = record
            .map(|record| decode::<Account>(&record.value))
            .transpose()?;
        let expected = match &account {
            Some(account) => account.password.clone(),
            None => self.decoy().await?,
        };
        let right = self
            .shared
            .work
            .run(move || password::verify(&expected, &password))
            .await?;
        match account {
            Some(account) if right => {
                self.forget_attempts(&keys);
                self.open_session(account.tenant, account.email).await
            }
            _ => {
                self.count_attempt(&keys);
                tracing::warn!(reason = "wrong address or password", "sign-in refused");
                Err(Error::new(
                    ErrorKind::Unauthenticated,
                    "the address or the password is wrong",
                ))
            }
        }
    }

    /// The person of a session token.
    ///
    /// # Errors
    /// `Unauthenticated` if the session is unknown or over.
    pub async fn person(&self, token: &str) -> Result<Person> {
        let id = session_id(token);
        let now = self.shared.clock.now();
        if let Some((person, expires)) = self.cached(&id)
            && expires > now
        {
            return Ok(person);
        }
        let record = self
            .shared
            .store
            .read(&TenantId::instance(), SESSION, &id)
            .await?
            .ok_or_else(|| {
                Error::new(ErrorKind::Unauthenticated, "your session is over")
                    .with_hint("sign in again")
            })?;
        let session: SessionRecord = decode(&record.value)?;
        let person = Person {
            tenant: session.tenant,
            email: session.email,
            session: id.clone(),
        };
        self.remember(id, &person, record.expires.unwrap_or(now));
        Ok(person)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The store's.
    pub async fn sign_out(&self, token: &str) -> Result<()> {
        let id = session_id(token);
        if let Ok(mut sessions) = self.sessions.lock() {
            sessions.remove(&id);
        }
        self.shared
            .store
            .commit(Batch::new(TenantId::instance()).delete(SESSION, &id))
            .await?;
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
        self.remember(
            id.clone(),
            &Person {
                tenant,
                email,
                session: id,
            },
            expires,
        );
        Ok(NewSession {
            token,
            expires_in: SESSION_SECONDS,
        })
    }

    async fn decoy(&self) -> Result<String> {
        let shared = &self.shared;
        let decoy = self.decoy.get_or_try_init(|| async {
            let nobody = SecretString::new(shared.clock.ctx().token("decoy"));
            shared
                .work
                .run(move || password::hash(&nobody))
                .await?
                .map_err(Error::internal)
        });
        decoy.await.cloned()
    }

    fn cached(&self, id: &str) -> Option<(Person, UnixTime)> {
        self.sessions.lock().ok()?.get(id).cloned()
    }

    fn remember(&self, id: String, person: &Person, expires: UnixTime) {
        let Ok(mut sessions) = self.sessions.lock() else {
            return;
        };
        if sessions.len() >= SESSIONS_CACHED_MAX {
            sessions.clear();
        }
        sessions.insert(id, (person.clone(), expires));
    }

    fn may_try(&self, keys: &[String]) -> Result<()> {
        let now = self.shared.clock.now();
        let Ok(attempts) = self.attempts.lock() else {
            return Ok(());
        };
        for key in keys {
            if let Some(tried) = attempts.get(key) {
                let over = tried.since.plus(ATTEMPTS_WINDOW);
                if tried.failed >= ATTEMPTS_MAX && now < over {
                    let retry_after = over.seconds_since(now);
                    return Err(Error::new(
                        ErrorKind::TooMany { retry_after },
                        "too many wrong passwords",
                    )
                    .with_hint("wait a while before you try again"));
                }
            }
        }
        Ok(())
    }

    fn count_attempt(&self, keys: &[String]) {
        let now = self.shared.clock.now();
        let Ok(mut attempts) = self.attempts.lock() else {
            return;
        };
        attempts.retain(|_, tried| now < tried.since.plus(ATTEMPTS_WINDOW));
        if attempts.len() >= ATTEMPTS_TRACKED_MAX {
            attempts.clear();
        }
        for key in keys {
            let tried = attempts.entry(key.clone()).or_insert(Attempts {
                failed: 0,
                since: now,
            });
            tried.failed = tried.failed.saturating_add(1);
        }
    }

    fn forget_attempts(&self, keys: &[String]) {
        let Ok(mut attempts) = self.attempts.lock() else {
            return;
        };
        for key in keys {
            attempts.remove(key);
        }
    }
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
