//! What controllers do with transactions.

use selfsame_anoncreds_wallet::endorse::{EndorsedObject, EndorsedWrite, endorsed};
use selfsame_driver::record::{all, decode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::error::refused;
use selfsame_registry::transaction::AuthoredTransaction;
use selfsame_store::TenantId;

use crate::endorsements::Endorsements;
use crate::entry::{ENDORSEMENT, TransactionEntry, TransactionView, authored_id};
use crate::protocol::{
    TransactionInput, TransactionRole, TransactionState, authored_of, endorsed_of, endorsed_text,
};

impl Endorsements {
    /// The transactions of an agent, of both sides, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, tenant: &TenantId) -> Result<Vec<TransactionView>> {
        let store = &self.shared().store;
        let each = all(store, tenant, ENDORSEMENT, |stored| {
            Ok(TransactionView::of(&stored.id, &decode(&stored.value)?))
        });
        each.await
    }

    /// A transaction.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn show(&self, tenant: &TenantId, id: &str) -> Result<TransactionView> {
        let (entry, _) = self.entry(tenant, id).await?;
        Ok(TransactionView::of(id, &entry))
    }

    /// The author's record of a transaction, which the endorser is asked for at once if the settings say so.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn begun(
        &self,
        tenant: &TenantId,
        transaction: &AuthoredTransaction,
    ) -> Result<TransactionView> {
        let id = authored_id(transaction);
        let (entry, _) = self.entry(tenant, &id).await?;
        let is_new = entry.record.state == TransactionState::Created;
        match is_new && self.terms(tenant).auto_request {
            true => self.request(tenant, &id, None).await,
            false => Ok(TransactionView::of(&id, &entry)),
        }
    }

    /// Asks the endorser for its signature. `expires_time` is for people: the protocol does not say what follows.
    ///
    /// # Errors
    /// `NotFound` if there is no such transaction; `Forbidden` if this agent is no author on the connection, or that is
    /// not ready; `Conflict` if the endorser was asked before.
    pub async fn request(
        &self,
        tenant: &TenantId,
        id: &str,
        expires_time: Option<String>,
    ) -> Result<TransactionView> {
        let role = TransactionRole::Author;
        self.entry_of(tenant, id, role).await?;
        let asked = self
            .give(tenant, id, &TransactionInput::Request { expires_time })
            .await;
        match asked {
            // The work that goes on by itself was faster.
            Err(error) if error.kind == ErrorKind::Conflict && self.terms(tenant).auto_request => {
                self.show(tenant, id).await
            }
            asked => asked,
        }
    }

    /// Endorses a transaction as the agent's public DID.
    ///
    /// # Errors
    /// `NotFound` if there is no such transaction; `Forbidden` if this agent is no endorser on the connection;
    /// `BadRequest` if another DID is to endorse it; `Conflict` if its state does not allow it.
    pub async fn endorse(
        &self,
        tenant: &TenantId,
        id: &str,
        as_did: Option<&str>,
    ) -> Result<TransactionView> {
        let entry = self.entry_of(tenant, id, TransactionRole::Endorser).await?;
        let input = self.endorsement(tenant, &entry, as_did).await?;
        self.give(tenant, id, &input).await
    }

    /// The endorsement of a transaction.
    pub(crate) async fn endorsement(
        &self,
        tenant: &TenantId,
        entry: &TransactionEntry,
        as_did: Option<&str>,
    ) -> Result<TransactionInput> {
        let author = self.author(tenant).await?;
        let own = author.did.as_str();
        if as_did.is_some_and(|did| did != own && !own.ends_with(&format!(":{did}"))) {
            return Err(Error::bad_request("anoncreds-endorser-other").with("did", own));
        }
        let asked = authored_of(&entry.record.attached.data.json);
        let asked = asked.map_err(|problem| refused(&problem))?;
        let endorsed = endorsed(self.shared(), &author, asked).await?;
        let text = endorsed_text(&endorsed).map_err(|problem| refused(&problem))?;
        Ok(TransactionInput::Endorse {
            endorser_did: author.did.to_string(),
            text,
        })
    }

    /// Tells the author that its transaction is not endorsed.
    ///
    /// # Errors
    /// As [`Self::endorse`].
    pub async fn refuse(&self, tenant: &TenantId, id: &str) -> Result<TransactionView> {
        self.entry_of(tenant, id, TransactionRole::Endorser).await?;
        self.give(tenant, id, &TransactionInput::Refuse).await
    }

    /// Takes a request back.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn cancel(&self, tenant: &TenantId, id: &str) -> Result<TransactionView> {
        self.entry_of(tenant, id, TransactionRole::Author).await?;
        self.give(tenant, id, &TransactionInput::Cancel).await
    }

    /// Asks again, after a refusal or after the request was taken back.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn resend(&self, tenant: &TenantId, id: &str) -> Result<TransactionView> {
        self.entry_of(tenant, id, TransactionRole::Author).await?;
        self.give(tenant, id, &TransactionInput::Resend).await
    }

    /// Writes an endorsed transaction, waits until the registry has it, and tells the endorser.
    ///
    /// # Errors
    /// `NotFound` if there is no such transaction; `Forbidden` if it is not endorsed; `BadRequest` if the registry
    /// refuses it, such as for an endorser without a role; `Unavailable` if the registry has not answered yet.
    pub async fn write(&self, tenant: &TenantId, id: &str) -> Result<TransactionView> {
        let (entry, _) = self.entry(tenant, id).await?;
        let state = entry.record.state;
        let unendorsed = || {
            Error::new(ErrorKind::Forbidden, "endorsement-unendorsed").with("state", state.name())
        };
        let publishes = entry.publishes.as_ref().filter(|_| entry.is_author());
        let publishes = publishes.filter(|_| state == TransactionState::Endorsed);
        let publishes = publishes.ok_or_else(unendorsed)?;
        let transaction = endorsed_of(entry.record.endorsed.as_deref().unwrap_or_default());
        let write = EndorsedWrite {
            object: publishes.object,
            record: publishes.record.clone(),
            transaction: transaction.map_err(|problem| refused(&problem))?,
        };
        let anoncreds = self.anoncreds();
        anoncreds.write_endorsed(tenant, &write).await?;
        if write.object == EndorsedObject::Publication && self.terms(tenant).auto_create_revocation
        {
            anoncreds.begin_registries(tenant, &write.record).await?;
        }
        match self.give(tenant, id, &TransactionInput::Written).await {
            // The work that goes on by itself was faster.
            Err(error) if error.kind == ErrorKind::Conflict => self.show(tenant, id).await,
            written => written,
        }
    }

    /// A transaction of an agent that is this side on the connection.
    async fn entry_of(
        &self,
        tenant: &TenantId,
        id: &str,
        role: TransactionRole,
    ) -> Result<TransactionEntry> {
        let (entry, _) = self.entry(tenant, id).await?;
        let connection = &entry.record.connection_id;
        self.must_be(tenant, connection, role).await?;
        Ok(entry)
    }
}
