//! The operator: one token made at the first start, sessions for browsers.

use std::sync::Arc;

use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

pub(crate) const TOKEN: &str = "operator_token";
pub(crate) const SESSION: &str = "operator_session";
const SESSION_SECONDS: u64 = 12 * 3600;

/// Who may issue, revoke, ask and write.
pub struct Operator {
    shared: Arc<Shared>,
    token_hash: [u8; 32],
}

impl Operator {
    /// The operator of this store; at the very first start with the new token, which is kept only as a hash.
    ///
    /// # Errors
    /// The store's.
    pub async fn open(shared: Arc<Shared>) -> Result<(Self, Option<SecretString>)> {
        let instance = TenantId::instance();
        if let Some(record) = shared.store.read(&instance, TOKEN, "hash").await? {
            let token_hash =
                <[u8; 32]>::try_from(record.value.as_slice()).map_err(Error::internal)?;
            return Ok((Self { shared, token_hash }, None));
        }
        let token = SecretString::new(shared.clock.ctx().token("operator"));
        let token_hash = hashed(token.expose());
        let batch = Batch::new(instance)
            .expect(TOKEN, "hash", Expect::Absent)
            .put(Put::new(TOKEN, "hash", token_hash.to_vec()));
        shared
            .store
            .commit(batch)
            .await
            .map_err(|error| match error {
                StoreError::Conflict { .. } => {
                    Error::internal("another process opened this data directory at the same time")
                }
                other => other.into(),
            })?;
        Ok((Self { shared, token_hash }, Some(token)))
    }

    /// Forgets the token of this store: the next start makes a new one, and the sessions opened with the old one end.
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

    /// Whether this is the operator's token; takes the same time for each wrong one.
    #[must_use]
    pub fn is_token(&self, token: &str) -> bool {
        hash::ct_eq(&hashed(token), &self.token_hash)
    }

    /// Opens a session for a browser.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong token.
    pub async fn sign_in(&self, token: &str) -> Result<SecretString> {
        if !self.is_token(token) {
            tracing::warn!(reason = "wrong operator token", "sign-in refused");
            return Err(Error::new(ErrorKind::Unauthenticated, "this is not the operator's token")
                .with_hint("`selfsame up` printed a link that signs in; the token also stands in the data directory"));
        }
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
        let record = self
            .shared
            .store
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

    /// What a session is kept under: one that was opened with another token is unknown.
    fn session_id(&self, session: &str) -> String {
        encoding::base64url_encode(&hash::sha256_parts(&[
            b"operator session\0",
            &self.token_hash,
            session.as_bytes(),
        ]))
    }
}

fn hashed(token: &str) -> [u8; 32] {
    hash::sha256_parts(&[b"operator token\0", token.as_bytes()])
}
