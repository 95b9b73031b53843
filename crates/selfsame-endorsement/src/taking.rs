//! The messages of peers.

use selfsame_aries::wire::Incoming;
use selfsame_didcomm::Message;
use selfsame_driver::{Error, Result};
use selfsame_mediation::error::{refused, unreadable};
use selfsame_store::{Expect, TenantId};

use crate::connections::SaidToPeer;
use crate::endorsements::{Endorsements, KeptTransaction};
use crate::entry::{ENDORSEMENT, TransactionEntry, call, received_id};
use crate::protocol::{
    TransactionInput, TransactionMessage, TransactionRequest, TransactionRole, TransactionState,
    received,
};

/// Who sends a message.
#[derive(Clone, Copy)]
struct OnConnection<'a> {
    tenant: &'a TenantId,
    connection: &'a str,
}

impl Endorsements {
    /// What follows from a message of the protocol that came on a connection for the first time.
    ///
    /// # Errors
    /// `BadRequest` if it can't be read; `Forbidden` if this agent is no endorser on the connection; the refusal of the
    /// protocol, and the store's.
    pub async fn take(
        &self,
        tenant: &TenantId,
        connection: &str,
        message: &Message,
    ) -> Result<SaidToPeer> {
        let read = Incoming::<TransactionMessage>::read(message);
        let message = read.map_err(|error| unreadable(&error))?.content;
        let from = OnConnection { tenant, connection };
        match &message {
            TransactionMessage::Request(request) => self.requested(from, request).await,
            TransactionMessage::Job(job) => {
                self.hear_job(from.tenant, from.connection, *job).await?;
                Ok(SaidToPeer::default())
            }
            TransactionMessage::Endorse(response) => {
                let id = response.transaction_id.clone();
                self.heard(from, &id, message).await
            }
            TransactionMessage::Refuse(response) => {
                let id = response.transaction_id.clone();
                self.heard(from, &id, message).await
            }
            TransactionMessage::Cancel(note)
            | TransactionMessage::Resend(note)
            | TransactionMessage::Ack(note) => {
                let id = received_id(from.connection, &note.thread_id);
                self.heard(from, &id, message).await
            }
        }
    }

    /// A request begins a record, once.
    async fn requested(
        &self,
        from: OnConnection<'_>,
        request: &TransactionRequest,
    ) -> Result<SaidToPeer> {
        let OnConnection { tenant, connection } = from;
        self.must_be(tenant, connection, TransactionRole::Endorser)
            .await?;
        let id = received_id(connection, &request.transaction_id);
        let shared = self.shared();
        let known = shared.store.version(tenant, ENDORSEMENT, &id);
        if known.await?.is_some() {
            return Ok(SaidToPeer::default());
        }
        let record = received(request, connection, &shared.clock.ctx());
        let entry = TransactionEntry {
            record: record.map_err(|problem| refused(&problem))?,
            publishes: None,
        };
        self.endorsed_at_once(tenant, &id, entry, Expect::Absent)
            .await
    }

    /// A message about a transaction that is known.
    async fn heard(
        &self,
        from: OnConnection<'_>,
        id: &str,
        message: TransactionMessage,
    ) -> Result<SaidToPeer> {
        let (entry, version) = self.entry(from.tenant, id).await?;
        if entry.record.connection_id != from.connection {
            return Err(Error::not_found("endorsement-absent"));
        }
        let input = TransactionInput::Received(message);
        let (entry, send) = self.stepped(id, entry, &input)?;
        let expect = Expect::Version(version);
        if entry.record.state == TransactionState::ResentReceived {
            return self.endorsed_at_once(from.tenant, id, entry, expect).await;
        }
        let kept = KeptTransaction {
            id,
            entry: &entry,
            expect,
        };
        let mut said = self.said(from.tenant, &kept, send)?;
        let is_endorsed = entry.record.state == TransactionState::Endorsed;
        if is_endorsed && self.terms(from.tenant).auto_write {
            let now = self.shared().clock.now();
            let entry = call(from.tenant, id, now)?;
            said.writes = said.writes.map(|writes| writes.enqueue(entry));
        }
        Ok(said)
    }

    /// A transaction that this agent is asked to endorse, and endorses if the settings say so.
    async fn endorsed_at_once(
        &self,
        tenant: &TenantId,
        id: &str,
        entry: TransactionEntry,
        expect: Expect,
    ) -> Result<SaidToPeer> {
        let asked = entry.told(id);
        let as_it_is = KeptTransaction {
            id,
            entry: &entry,
            expect,
        };
        if !self.terms(tenant).auto_endorse {
            return self.said(tenant, &as_it_is, None);
        }
        let endorsed = match self.endorsement(tenant, &entry, None).await {
            Ok(endorsement) => self.stepped(id, entry.clone(), &endorsement),
            Err(error) => Err(error),
        };
        match endorsed {
            Ok((after, send)) => {
                let kept = KeptTransaction {
                    id,
                    entry: &after,
                    expect,
                };
                let mut said = self.said(tenant, &kept, send)?;
                said.tell.insert(0, asked);
                Ok(said)
            }
            Err(error) => {
                tracing::warn!(%error, "a transaction waits for a controller to endorse it");
                self.said(tenant, &as_it_is, None)
            }
        }
    }
}
