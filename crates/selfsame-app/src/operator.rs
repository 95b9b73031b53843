//! The operator: one token created at the first start, and sessions for browsers.

use std::sync::{Arc, PoisonError, RwLock};

use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use crate::view::instance::SignInLink;
use selfsame_core::Shared;

pub(crate) const TOKEN: &str = "operator_token";
pub(crate) const SESSION: &str = "operator_session";
const SESSION_SECONDS: u64 = 12 * 3600;
/// The kind of the records of sign-in links.
const LINK: &str = "operator_link";
/// Seconds for which a sign-in link is valid; it works once.
const LINK_SECONDS: u64 = 600;

/// The operator, who may issue, revoke, request presentations and write to the registry.
pub struct Operator {
    shared: Arc<Shared>,
    token_hash: RwLock<[u8; 32]>,
    /// The token that this process uses for itself; never stored.
    pass: SecretString,
}

impl Operator {
    /// The operator of this store. The very first start also returns the new token, of which only a hash is stored.
    ///
    /// # Errors
    /// The store's.
    pub async fn open(shared: Arc<Shared>) -> Result<(Self, Option<SecretString>)> {
        let instance = TenantId::instance();
        if let Some(token_hash) = kept(&shared.store).await? {
            return Ok((Self::of(shared, token_hash), None));
        }
        let token = SecretString::new(shared.clock.ctx().token("operator"));
        let token_hash = hashed(token.expose());
        let batch = Batch::new(instance)
            .expect(TOKEN, "hash", Expect::Absent)
            .put(Put::new(TOKEN, "hash", token_hash.to_vec()));
        match shared.store.commit(batch).await {
            Ok(_) => Ok((Self::of(shared, token_hash), Some(token))),
            // Another process on the same store started at the same time, and shows its token.
            Err(StoreError::Conflict { .. }) => {
                let token_hash = kept(&shared.store).await?;
                let token_hash = token_hash.ok_or_else(|| Error::internal("no operator token"))?;
                Ok((Self::of(shared, token_hash), None))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Reads the hash again, if another process may have replaced the token; a failure is only logged.
    pub(crate) async fn keep_token(&self) {
        if !self.shared.store.is_shared() {
            return;
        }
        match kept(&self.shared.store).await {
            Ok(Some(token_hash)) => {
                let held = self.token_hash.write();
                *held.unwrap_or_else(PoisonError::into_inner) = token_hash;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the operator's token can't be read"),
        }
    }

    fn token_hash(&self) -> [u8; 32] {
        *self
            .token_hash
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn of(shared: Arc<Shared>, token_hash: [u8; 32]) -> Self {
        let pass = SecretString::new(shared.clock.ctx().token("operator/pass"));
        Self {
            shared,
            token_hash: RwLock::new(token_hash),
            pass,
        }
    }

    /// A token that is valid while this process runs, for calls to itself.
    #[must_use]
    pub fn pass(&self) -> SecretString {
        self.pass.clone()
    }

    /// Deletes the token of this store: the next start creates a new one, and the sessions opened with the old one end.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget(store: &Store) -> Result<()> {
        let instance = TenantId::instance();
        if store.version(&instance, TOKEN, "hash").await?.is_some() {
            let batch = Batch::new(instance).delete(TOKEN, "hash");
            store.commit(batch).await?;
        }
        Ok(())
    }

    /// Whether this is the operator's token; the check takes the same time for each wrong one.
    #[must_use]
    pub fn is_token(&self, token: &str) -> bool {
        let is_token = hash::ct_eq(&hashed(token), &self.token_hash());
        let is_pass = hash::ct_eq(&hashed(token), &hashed(self.pass.expose()));
        is_token | is_pass
    }

    /// A link that signs a browser in: valid once, for ten minutes. It does not contain the token itself, since URLs
    /// are kept in logs and histories.
    ///
    /// # Errors
    /// The store's.
    pub async fn link(&self) -> Result<SignInLink> {
        let ctx = self.shared.clock.ctx();
        let code = ctx.token("operator/link");
        let put =
            Put::new(LINK, self.link_id(&code), Vec::new()).expires(ctx.now().plus(LINK_SECONDS));
        let batch = Batch::new(TenantId::instance()).put(put);
        self.shared.store.commit(batch).await?;
        let url = self.shared.config.origin.join("operator/sign-in");
        let mut url = url.map_err(Error::internal)?;
        url.query_pairs_mut().append_pair("code", &code);
        Ok(SignInLink {
            url: url.into(),
            seconds: LINK_SECONDS,
        })
    }

    /// Opens a session for the browser that sends a link's code; the link then ends.
    ///
    /// # Errors
    /// `Unauthenticated` for a code that was used, is too old, or never existed.
    pub async fn sign_in_by_link(&self, code: &str) -> Result<SecretString> {
        let over = || {
            tracing::warn!(reason = "invalid sign-in link", "sign-in refused");
            Error::new(ErrorKind::Unauthenticated, "sign-in-link-over")
        };
        let (instance, id) = (TenantId::instance(), self.link_id(code));
        let store = &self.shared.store;
        let version = store.version(&instance, LINK, &id).await?;
        let version = version.ok_or_else(over)?;
        let used = Batch::new(instance)
            .expect(LINK, &id, Expect::Version(version))
            .delete(LINK, &id);
        match store.commit(used).await {
            Ok(_) => self.session().await,
            Err(StoreError::Conflict { .. }) => Err(over()),
            Err(other) => Err(other.into()),
        }
    }

    /// Opens a session for a browser.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong token.
    pub async fn sign_in(&self, token: &str) -> Result<SecretString> {
        if !self.is_token(token) {
            tracing::warn!(reason = "wrong operator token", "sign-in refused");
            return Err(Error::new(
                ErrorKind::Unauthenticated,
                "operator-token-wrong",
            ));
        }
        self.session().await
    }

    async fn session(&self) -> Result<SecretString> {
        let ctx = self.shared.clock.ctx();
        let session = ctx.token("session");
        let put = Put::new(SESSION, self.session_id(&session), Vec::new())
            .expires(ctx.now().plus(SESSION_SECONDS));
        self.shared
            .store
            .commit(Batch::new(TenantId::instance()).put(put))
            .await?;
        Ok(SecretString::new(session))
    }

    /// Whether this browser's session is open.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_session(&self, session: &str) -> Result<bool> {
        let store = &self.shared.store;
        let record = store
            .read(&TenantId::instance(), SESSION, &self.session_id(session))
            .await?;
        Ok(record.is_some())
    }

    /// Ends a browser's session.
    ///
    /// # Errors
    /// The store's.
    pub async fn sign_out(&self, session: &str) -> Result<()> {
        let batch = Batch::new(TenantId::instance()).delete(SESSION, &self.session_id(session));
        self.shared.store.commit(batch).await?;
        Ok(())
    }

    /// The record id of a link: a hash of its code, so that reading the store is not enough to sign in.
    fn link_id(&self, code: &str) -> String {
        encoding::base64url_encode(&hash::sha256_parts(&[
            b"operator link\0",
            &self.token_hash(),
            code.as_bytes(),
        ]))
    }

    /// The record id of a session. It includes the token's hash, so a session opened with another token is unknown.
    fn session_id(&self, session: &str) -> String {
        encoding::base64url_encode(&hash::sha256_parts(&[
            b"operator session\0",
            &self.token_hash(),
            session.as_bytes(),
        ]))
    }
}

/// The hash of the token of a store.
async fn kept(store: &Store) -> Result<Option<[u8; 32]>> {
    let record = store.read(&TenantId::instance(), TOKEN, "hash").await?;
    let hash = record.map(|record| <[u8; 32]>::try_from(record.value.as_slice()));
    hash.transpose().map_err(Error::internal)
}

fn hashed(token: &str) -> [u8; 32] {
    hash::sha256_parts(&[b"operator token\0", token.as_bytes()])
}
