//! Messages of exchanges: the record of the thread is given them, or begins with them.

use std::sync::Arc;

use selfsame_aries::advance::Outset;
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::At;
use selfsame_driver::{Error, ErrorKind, Result};

use super::Agents;
use super::inbound::{FoundConnection, Inbound};
use super::ways::way;
use crate::connections::ConnectionWhat;
use crate::error::unreadable;
use crate::exchanges::issuing::Issuing;
use crate::exchanges::proving::Proving;
use crate::exchanges::{ExchangeProtocol, Ground, Way, Wishes, record_id};
use crate::machine::ProtocolMachine;

/// A message on its way to the record of its thread.
struct Taking<'a> {
    inbound: &'a Inbound,
    connection_id: String,
    way: Way,
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
            .give(&self.issuing, &taking.read::<Issuing>()?)
            .await?
            || taking
                .give(&self.proving, &taking.read::<Proving>()?)
                .await?;
        match is_taken {
            true => Ok(()),
            false => Err(Error::not_found("exchange-absent")),
        }
    }

    /// The connection that a message came on, which the peer has if it sends other messages (RFC 0160 §3).
    async fn taking<'a>(&self, inbound: &'a Inbound) -> Result<Taking<'a>> {
        let FoundConnection { id, entry } = self.connection_of(inbound).await?;
        let way = way(&entry).ok_or_else(|| Error::not_found("connection-absent"))?;
        if !entry.record.state.is_complete() {
            let what = ConnectionWhat::Heard(Vec::new());
            self.give_connection(&inbound.tenant, &id, what).await?;
        }
        Ok(Taking {
            inbound,
            connection_id: id,
            way,
        })
    }
}

impl Taking<'_> {
    fn read<P: ExchangeProtocol>(&self) -> Result<Incoming<P::Speech>> {
        let read = Incoming::<P::Speech>::read(&self.inbound.message);
        read.map_err(|error| unreadable(&error))
    }

    fn ground(&self) -> Ground {
        Ground {
            way: Some(self.way.clone()),
            connection_id: Some(self.connection_id.clone()),
            ..Ground::default()
        }
    }

    /// Gives the record of the thread the message. Returns whether there is one. The thread began on this connection, or
    /// with an invitation.
    async fn give<P: ExchangeProtocol>(
        &self,
        machine: &Arc<ProtocolMachine<P>>,
        incoming: &Incoming<P::Speech>,
    ) -> Result<bool> {
        let parent = incoming.parent_thread_id.as_deref();
        let threads = std::iter::once(incoming.thread_id.as_str()).chain(parent);
        for thread in threads {
            for connection in [Some(self.connection_id.as_str()), None] {
                let id = record_id(connection, thread);
                let at = At {
                    tenant: &self.inbound.tenant,
                    id: &id,
                };
                let given = P::given(P::received(incoming.clone()), self.ground());
                match machine.give(at, given).await {
                    Ok(_) => return Ok(true),
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(false)
    }

    /// Begins a record with the message. Returns whether none was there.
    async fn start<P: ExchangeProtocol>(
        &self,
        machine: &Arc<ProtocolMachine<P>>,
        incoming: &Incoming<P::Speech>,
        auto_remove: Option<bool>,
    ) -> Result<bool> {
        let ground = Ground {
            outset: Some(Outset {
                kind: incoming.kind.clone(),
                connection_id: Some(self.connection_id.clone()),
                parent_thread_id: incoming.parent_thread_id.clone(),
            }),
            wishes: Wishes {
                auto_remove,
                ..Wishes::default()
            },
            ..self.ground()
        };
        let given = P::given(P::received(incoming.clone()), ground);
        let tenant = &self.inbound.tenant;
        let started = machine.start(tenant, P::Entry::default(), given).await?;
        Ok(started.is_some())
    }
}

/// Whether no record has the identifier.
fn is_absent(error: &Error) -> bool {
    error.kind == ErrorKind::NotFound && error.reason.id() == "record-absent"
}
