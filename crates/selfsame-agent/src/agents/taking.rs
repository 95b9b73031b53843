//! Messages of exchanges: the record of the thread is given them, or begins with them.

use std::sync::Arc;

use selfsame_aries::advance::Outset;
use selfsame_aries::exchange::Speech;
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::{At, Machine as _};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::destination::Destination;
use selfsame_mediation::error::unreadable;
use selfsame_mediation::wishes::Wishes;

use super::Agents;
use super::inbound::{FoundConnection, Inbound};
use super::ways::way;
use crate::connections::{Aside, ConnectionWhat};
use crate::exchanges::issuing::IssuingProtocol;
use crate::exchanges::proving::ProvingProtocol;
use crate::exchanges::{ExchangeEntry, ExchangeGiven, ExchangeProtocol, Ground, Way, record_id};
use crate::machine::ProtocolMachine;

/// A message on its way to the record of its thread.
struct Taking<'a> {
    agents: &'a Agents,
    inbound: &'a Inbound,
    /// `None` without a connection.
    connection_id: Option<String>,
    /// `None` without a connection, if the message does not say where its answers go.
    way: Option<Way>,
}

impl Agents {
    /// Takes a message of a protocol of exchanges.
    pub(super) async fn take_exchange<P: ExchangeProtocol>(
        &self,
        machine: &Arc<ProtocolMachine<P>>,
        inbound: &Inbound,
    ) -> Result<()> {
        let taking = self.taking(inbound).await?;
        let incoming = taking.read::<P>()?;
        if taking.give(machine, &incoming).await? {
            return Ok(());
        }
        let auto_remove = Some(self.removes(&inbound.tenant, None));
        let started = taking.start(machine, &incoming, auto_remove).await?;
        match started || taking.give(machine, &incoming).await? {
            true => Ok(()),
            false => Err(Error::not_found("exchange-absent")),
        }
    }

    /// Takes an acknowledgement or a problem report of any protocol: its thread tells which record it is for.
    pub(super) async fn take_adopted(&self, inbound: &Inbound) -> Result<()> {
        let taking = self.taking(inbound).await?;
        let is_taken = taking
            .give(&self.issuing, &taking.read::<IssuingProtocol>()?)
            .await?
            || taking
                .give(&self.proving, &taking.read::<ProvingProtocol>()?)
                .await?;
        match is_taken {
            true => Ok(()),
            false => self.take_problem(inbound).await,
        }
    }

    /// The connection that a message came on, which the peer has if it sends other messages (RFC 0160 §3).
    async fn taking<'a>(&'a self, inbound: &'a Inbound) -> Result<Taking<'a>> {
        let found = match self.connection_of(inbound).await {
            Ok(found) => found,
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(self.alone(inbound)),
            Err(error) => return Err(error),
        };
        let FoundConnection { id, entry, .. } = found;
        let way = way(&entry).ok_or_else(|| Error::not_found("connection-absent"))?;
        if !entry.record.state.is_complete() {
            let what = ConnectionWhat::Heard(Aside::default());
            self.give_connection(&inbound.tenant, &id, what).await?;
        }
        Ok(Taking {
            agents: self,
            inbound,
            connection_id: Some(id),
            way: Some(way),
        })
    }

    /// A message without a connection, which says itself where its answers go.
    fn alone<'a>(&'a self, inbound: &'a Inbound) -> Taking<'a> {
        let terms = self.parts.terms(&inbound.tenant);
        Taking {
            agents: self,
            inbound,
            connection_id: None,
            way: inbound.service.clone().map(|to| Way {
                service: Some(Destination::decorator(&inbound.recipient, &terms.endpoint)),
                from: inbound.recipient.clone(),
                to,
            }),
        }
    }
}

impl Taking<'_> {
    fn read<P: ExchangeProtocol>(&self) -> Result<Incoming<Speech<P::Course>>> {
        let read = Incoming::<Speech<P::Course>>::read(&self.inbound.message);
        read.map_err(|error| unreadable(&error))
    }

    fn ground(&self) -> Ground {
        Ground {
            way: self.way.clone(),
            connection_id: self.connection_id.clone(),
            ..Ground::default()
        }
    }

    /// Gives the record of the thread the message. Returns whether there is one. The thread began on this connection, or
    /// with an invitation.
    async fn give<P: ExchangeProtocol>(
        &self,
        machine: &Arc<ProtocolMachine<P>>,
        incoming: &Incoming<Speech<P::Course>>,
    ) -> Result<bool> {
        let parent = incoming.parent_thread_id.as_deref();
        let threads = std::iter::once(incoming.thread_id.as_str()).chain(parent);
        for thread in threads {
            for connection in [self.connection_id.as_deref(), None] {
                let id = record_id(connection, thread);
                let at = At {
                    tenant: &self.inbound.tenant,
                    id: &id,
                };
                let Some(ground) = self.ground_of(machine, at).await? else {
                    continue;
                };
                let given = ExchangeGiven::told(P::received(incoming.clone()), ground);
                match machine.give(at, given).await {
                    Ok(_) => return Ok(true),
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(false)
    }

    /// The ground of a message for this record; `None` if the record can't be given it. Without a connection the keys of
    /// the envelope must be those of the exchange, or the first ones that answer the invitation.
    async fn ground_of<P: ExchangeProtocol>(
        &self,
        machine: &Arc<ProtocolMachine<P>>,
        at: At<'_>,
    ) -> Result<Option<Ground>> {
        if self.connection_id.is_some() {
            return Ok(Some(self.ground()));
        }
        let store = &self.agents.parts.shared.store;
        let found = machine.records().find(store, at.tenant, P::KIND, at.id);
        let Some((entry, version)) = found.await? else {
            return Ok(None);
        };
        let known = entry.alone.clone();
        let answered = self.way.clone().filter(|_| entry.unsent.is_some());
        machine.records().keep(version, entry);
        let way = known.or(answered).filter(|way| {
            let mut senders = self.inbound.sender.iter();
            way.from == self.inbound.recipient && senders.any(|sender| way.to.is(sender))
        });
        Ok(way.map(|way| Ground {
            way: Some(way),
            ..Ground::default()
        }))
    }

    /// Begins a record with the message. Returns whether none was there.
    async fn start<P: ExchangeProtocol>(
        &self,
        machine: &Arc<ProtocolMachine<P>>,
        incoming: &Incoming<Speech<P::Course>>,
        auto_remove: Option<bool>,
    ) -> Result<bool> {
        // Without a connection or an invitation, a stranger begins nothing.
        if self.connection_id.is_none() && !self.inbound.is_attached {
            return Ok(false);
        }
        let ground = Ground {
            outset: Some(Outset {
                kind: incoming.kind.clone(),
                connection_id: self.connection_id.clone(),
                parent_thread_id: incoming.parent_thread_id.clone(),
            }),
            wishes: Wishes {
                auto_remove,
                ..Wishes::default()
            },
            ..self.ground()
        };
        let given = ExchangeGiven::told(P::received(incoming.clone()), ground);
        let tenant = &self.inbound.tenant;
        let ctx = self.agents.parts.shared.clock.ctx();
        let entry = ExchangeEntry {
            expires: self.inbound.expires,
            ..ExchangeEntry::default()
        };
        let begun = machine.start(tenant, entry, given, &ctx).await?;
        Ok(begun.outcome.is_some())
    }
}

/// Whether no record has the identifier.
fn is_absent(error: &Error) -> bool {
    error.kind == ErrorKind::NotFound && error.reason.id() == "record-absent"
}
