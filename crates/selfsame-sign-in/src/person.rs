//! What a person sees of themselves at the provider: sessions, and what they agreed to. They may end both.

use selfsame_core::machine::{Next, Round};
use selfsame_crypto::SecretString;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, MAX_PAGE, Page, Record, Tag};

use crate::consent::{CONSENT, ConsentRecord, consent_id};
use crate::record::{PERSON_TAG, SIGN_IN, SignInRecord, SignInState};
use crate::service::SignIns;
use crate::session::{ProviderSession, SIGN_IN_SESSION, session_id};
use crate::view::{AgreementView, SessionAccount, SessionView};

impl SignIns {
    /// The sessions of the person of this session.
    ///
    /// # Errors
    /// `Unauthenticated` without a session.
    pub async fn sessions(&self, token: &SecretString) -> Result<Vec<SessionView>> {
        let own = self.own_session(token).await?;
        let found = self.of_person(SIGN_IN_SESSION, &own.handle).await?;
        let shown = found.iter().map(|record| {
            let session: ProviderSession = decode(&record.value)?;
            Ok(SessionView {
                is_this: record.id == session_id(token),
                sid: session.sid,
                at: session.at,
                factors: session.factors,
            })
        });
        shown.collect()
    }

    /// The account of this instance that the person of this session has; `None` if others keep their account.
    ///
    /// # Errors
    /// `Unauthenticated` without a session.
    pub async fn own_account(&self, token: &SecretString) -> Result<Option<SessionAccount>> {
        let own = self.own_session(token).await?;
        let email = self.service.parts.system.account(&own.token);
        Ok(email.map(|email| SessionAccount {
            email,
            handle: own.handle,
            session: session_id(token),
        }))
    }

    /// Ends a session of the person of this session.
    ///
    /// # Errors
    /// `Unauthenticated` without a session; `NotFound` for a session of somebody else.
    pub async fn end_own_session(&self, token: &SecretString, sid: &str) -> Result<()> {
        let own = self.own_session(token).await?;
        for record in self.of_person(SIGN_IN_SESSION, &own.handle).await? {
            let session: ProviderSession = decode(&record.value)?;
            if session.sid == sid {
                return self.end_session(&record.id, &session).await;
            }
        }
        Err(Error::not_found("session-unknown"))
    }

    /// What the person of this session agreed to.
    ///
    /// # Errors
    /// `Unauthenticated` without a session.
    pub async fn agreements(&self, token: &SecretString) -> Result<Vec<AgreementView>> {
        let own = self.own_session(token).await?;
        let mut shown = Vec::new();
        for record in self.of_person(CONSENT, &own.handle).await? {
            let consent: ConsentRecord = decode(&record.value)?;
            let client = self.clients().find(&consent.client_id).await?;
            shown.push(AgreementView {
                names: client
                    .map(|client| client.party.names.clone())
                    .unwrap_or_default(),
                client_id: consent.client_id,
                claims: consent.agreed.claims,
                scopes: consent.agreed.scope.iter().map(str::to_owned).collect(),
                at: consent.at,
            });
        }
        Ok(shown)
    }

    /// Takes back what the person of this session agreed to with a client: they are asked again, and the client's tokens
    /// end.
    ///
    /// # Errors
    /// `Unauthenticated` without a session.
    pub async fn withdraw(&self, token: &SecretString, client_id: &str) -> Result<()> {
        let own = self.own_session(token).await?;
        let id = consent_id(client_id, &own.handle);
        let batch = Batch::new(self.place.tenant.clone()).delete(CONSENT, &id);
        self.shared().store.commit(batch).await?;
        for record in self.of_person(SIGN_IN, &own.handle).await? {
            let read: SignInRecord = decode(&record.value)?;
            if read.request.client_id == client_id {
                let ending = self.step(|record: &mut SignInRecord, (): &(), round: &Round<'_>| {
                    record.state = SignInState::Ended;
                    Ok(Next::written(round, ()))
                });
                let at = self.at(&record.id);
                self.shared().drive(&ending, at, ()).await?;
            }
        }
        Ok(())
    }

    async fn own_session(&self, token: &SecretString) -> Result<ProviderSession> {
        let found = ProviderSession::find(self.shared(), &self.place.tenant, token).await?;
        found.ok_or(Error::new(ErrorKind::Unauthenticated, "session-over"))
    }

    async fn of_person(&self, kind: &str, handle: &str) -> Result<Vec<Record>> {
        let tag = Tag::hashed(PERSON_TAG, handle);
        let page = Page::first(MAX_PAGE);
        let found = self
            .shared()
            .store
            .find(&self.place.tenant, kind, &tag, &page);
        Ok(found.await?)
    }
}
