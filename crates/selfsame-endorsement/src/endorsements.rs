//! The entrance, and what every act and message comes down to: a step, and one commit of its record with its message.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_aries::wire::{Vocabulary as _, fresh_id};
use selfsame_core::Shared;
use selfsame_core::dids::Author;
use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::error::refused;
use selfsame_store::{Batch, Expect, Put, TenantId};

use crate::connections::{PeerConnections, SaidToPeer};
use crate::entry::{ENDORSEMENT, TransactionEntry, TransactionView};
use crate::protocol::{PROTOCOL, TransactionInput, TransactionMessage, step};
use crate::terms::EndorsementTerms;

/// Gives the identity that signs what a tenant's agent writes and endorses.
pub type Authors =
    Arc<dyn Fn(TenantId) -> Pin<Box<dyn Future<Output = Result<Author>> + Send>> + Send + Sync>;

/// The endorsements of the agents of one process. Clones are the same.
#[derive(Clone)]
pub struct Endorsements(Arc<EndorsementParts>);

struct EndorsementParts {
    anoncreds: AnonCreds,
    connections: Arc<dyn PeerConnections>,
    authors: OnceLock<Authors>,
    terms: RwLock<HashMap<TenantId, Arc<EndorsementTerms>>>,
}

/// The endorsements, for what they are given to themselves: it must not keep them.
#[derive(Clone)]
pub struct WeakEndorsements(Weak<EndorsementParts>);

/// A transaction that is to be written.
pub struct KeptTransaction<'a> {
    pub id: &'a str,
    pub entry: &'a TransactionEntry,
    pub expect: Expect,
}

impl Endorsements {
    /// The endorsements of what these tenants publish, on these connections.
    #[must_use]
    pub fn new(anoncreds: AnonCreds, connections: Arc<dyn PeerConnections>) -> Self {
        Self(Arc::new(EndorsementParts {
            anoncreds,
            connections,
            authors: OnceLock::new(),
            terms: RwLock::default(),
        }))
    }

    /// Gives an agent terms.
    pub fn set_terms(&self, tenant: &TenantId, terms: EndorsementTerms) {
        let table = self.0.terms.write();
        let mut table = table.unwrap_or_else(PoisonError::into_inner);
        table.insert(tenant.clone(), Arc::new(terms));
    }

    /// The terms of an agent.
    pub(crate) fn terms(&self, tenant: &TenantId) -> Arc<EndorsementTerms> {
        let table = self.0.terms.read();
        let table = table.unwrap_or_else(PoisonError::into_inner);
        table.get(tenant).cloned().unwrap_or_default()
    }

    /// Says who signs for the agents.
    pub fn set_authors(&self, authors: Authors) {
        let _ = self.0.authors.set(authors);
    }

    /// The identity that signs for an agent.
    pub(crate) async fn author(&self, tenant: &TenantId) -> Result<Author> {
        let authors = self.0.authors.get();
        let starting = || Error::new(ErrorKind::Unavailable { retry_after: 1 }, "agent-starting");
        authors.ok_or_else(starting)?(tenant.clone()).await
    }

    pub(crate) fn anoncreds(&self) -> &AnonCreds {
        &self.0.anoncreds
    }

    pub(crate) fn connections(&self) -> &dyn PeerConnections {
        &*self.0.connections
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.0.anoncreds.shared()
    }

    /// The same, for what they are given to themselves.
    #[must_use]
    pub fn weak(&self) -> WeakEndorsements {
        WeakEndorsements(Arc::downgrade(&self.0))
    }

    /// A transaction with the version of its record.
    pub(crate) async fn entry(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<(TransactionEntry, u64)> {
        let stored = self.shared().store.read(tenant, ENDORSEMENT, id).await?;
        let stored = stored.ok_or_else(|| Error::not_found("endorsement-absent"))?;
        Ok((decode(&stored.value)?, stored.version))
    }

    /// Gives a transaction an input of this side, and sends what follows.
    pub(crate) async fn give(
        &self,
        tenant: &TenantId,
        id: &str,
        input: &TransactionInput,
    ) -> Result<TransactionView> {
        let (entry, version) = self.entry(tenant, id).await?;
        let (entry, send) = self.stepped(id, entry, input)?;
        let kept = KeptTransaction {
            id,
            entry: &entry,
            expect: Expect::Version(version),
        };
        let said = self.said(tenant, &kept, send)?;
        let connection = &entry.record.connection_id;
        self.connections().say(tenant, connection, said).await?;
        Ok(TransactionView::of(id, &entry))
    }

    /// A transaction after a step, with what is sent.
    pub(crate) fn stepped(
        &self,
        id: &str,
        entry: TransactionEntry,
        input: &TransactionInput,
    ) -> Result<(TransactionEntry, Option<TransactionMessage>)> {
        let ctx = self.shared().clock.ctx();
        let stepped = step(&entry.record, id, input, &ctx);
        let stepped = stepped.map_err(|problem| refused(&problem))?;
        let record = stepped.record;
        Ok((TransactionEntry { record, ..entry }, stepped.send))
    }

    /// What a connection says, writes and tells of a transaction.
    pub(crate) fn said(
        &self,
        tenant: &TenantId,
        kept: &KeptTransaction<'_>,
        send: Option<TransactionMessage>,
    ) -> Result<SaidToPeer> {
        let ctx = self.shared().clock.ctx();
        let put = Put::new(ENDORSEMENT, kept.id, encode(kept.entry)?);
        let writes = Batch::new(tenant.clone());
        let writes = writes.expect(ENDORSEMENT, kept.id, kept.expect).put(put);
        Ok(SaidToPeer {
            messages: send.iter().map(|sent| message(sent, &ctx)).collect(),
            writes: Some(writes),
            tell: vec![kept.entry.told(kept.id)],
        })
    }

    /// Says something that belongs to no transaction.
    pub(crate) async fn tell_peer(
        &self,
        tenant: &TenantId,
        connection: &str,
        sent: &TransactionMessage,
    ) -> Result<()> {
        let ctx = self.shared().clock.ctx();
        let said = SaidToPeer {
            messages: vec![message(sent, &ctx)],
            ..SaidToPeer::default()
        };
        self.connections().say(tenant, connection, said).await
    }
}

impl WeakEndorsements {
    /// The endorsements, while the process has them.
    ///
    /// # Errors
    /// `Unavailable` when it has them no more.
    pub fn strong(&self) -> Result<Endorsements> {
        let gone = || Error::new(ErrorKind::Unavailable { retry_after: 1 }, "agent-starting");
        self.0.upgrade().map(Endorsements).ok_or_else(gone)
    }
}

fn message(content: &TransactionMessage, ctx: &Ctx) -> Message {
    let kind = MessageType::new(PROTOCOL.name, Semver::new(1, 0), content.name());
    let mut message = Message::new(kind, fresh_id(content.name(), ctx));
    content.write(&mut message);
    message
}
