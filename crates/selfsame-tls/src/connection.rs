//! A connection: bytes in, bytes out, a handshake as client or server, then data, key updates and the end.

use std::sync::Arc;

use selfsame_crypto::ctx::Ctx;

use crate::alert::{Alert, Refusal};
use crate::codec::{ContentType, Message};
use crate::config::{ClientConfig, ServerConfig};
use crate::core::Core;
use crate::error::Error;
use crate::evidence::{Failure, HandshakeEvidence, HandshakeNeed, NeedAnswer};
use crate::handshake::{Done, HandshakeNext};
use crate::identity::Peer;
use crate::named::{Group, Suite};
use crate::record_layer::Record;
use crate::{client, server};

/// Maximum of KeyUpdates and empty records in a row without data.
const MAX_IDLE_RECORDS: u32 = 32;

/// One end of a connection. The driver passes received bytes to `receive` and sends the bytes of `take_outgoing`, in
/// pieces of any size; nothing here blocks. An error is permanent; its alert still has to be sent.
#[derive(Debug)]
pub struct Connection {
    core: Core,
    machine: ConnectionMachine,
    incoming: Vec<u8>,
    has_peer_closed: bool,
    has_closed: bool,
    idle_records: u32,
    /// Whether a KeyUpdate request was answered since we last sent data.
    has_answered_update: bool,
}

#[derive(Debug)]
enum ConnectionMachine {
    Client(client::ClientState),
    Server(server::ServerState),
    Open(Box<Done>),
    Failed(Error),
}

impl Connection {
    /// A client. Its hello can be sent at once. `ctx` must not be used for another connection.
    pub fn client(config: &Arc<ClientConfig>, ctx: &Ctx) -> Result<Self, Error> {
        let common = &config.common;
        let mut core = Core::new(common.profile, common.limits.clone(), ctx.now());
        core.is_client = true;
        core.records.pad_to(common.padding);
        let state = client::start(&mut core, config, ctx)?;
        Ok(Self::new(core, ConnectionMachine::Client(state)))
    }

    /// A server. `ctx` must not be used for another connection.
    pub fn server(config: &Arc<ServerConfig>, ctx: &Ctx) -> Self {
        let common = &config.common;
        let mut core = Core::new(common.profile, common.limits.clone(), ctx.now());
        core.records.pad_to(common.padding);
        Self::new(core, ConnectionMachine::Server(server::start(config, ctx)))
    }

    fn new(core: Core, machine: ConnectionMachine) -> Self {
        Self {
            core,
            machine,
            incoming: Vec::new(),
            has_peer_closed: false,
            has_closed: false,
            idle_records: 0,
            has_answered_update: false,
        }
    }

    /// Takes bytes from the peer, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8], ctx: &Ctx) -> Result<(), Error> {
        self.failed()?;
        self.core.now = ctx.now();
        // Data after close_notify is ignored (RFC 8446 §6.1).
        if !self.has_peer_closed {
            self.core.records.push(bytes);
        }
        self.run()
    }

    /// Reports that the peer's stream has ended. Without a close_notify before it, data may be missing.
    pub fn receive_end(&mut self) -> Result<(), Error> {
        self.failed()?;
        match self.has_peer_closed {
            true => Ok(()),
            false => {
                self.machine = ConnectionMachine::Failed(Error::Truncated);
                Err(Error::Truncated)
            }
        }
    }

    /// Returns the bytes to be sent to the peer, also after an error.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        self.core.records.take_outgoing()
    }

    /// Returns the data received.
    pub fn take_incoming(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.incoming)
    }

    /// The evidence that the handshake needs now or soon. Gather each need separately and concurrently; evidence may
    /// lead to further needs.
    pub fn needs(&self) -> &[HandshakeNeed] {
        self.core.needs()
    }

    /// Supplies evidence, perhaps for only some of the needs. Answers to anything else are ignored.
    pub fn provide(&mut self, evidence: &HandshakeEvidence, ctx: &Ctx) -> Result<(), Error> {
        self.failed()?;
        self.core.now = ctx.now();
        for need in self.core.needs().to_vec() {
            if let Some(answer) = evidence.answer(&need) {
                self.core.answer(answer.clone());
            }
        }
        self.run()
    }

    /// Fails the handshake if it has waited for evidence longer than the limit.
    pub fn check_patience(&mut self, ctx: &Ctx) -> Result<(), Error> {
        self.failed()?;
        self.core.now = ctx.now();
        if !self.core.is_out_of_patience() {
            return Ok(());
        }
        for need in self.core.needs().to_vec() {
            let nothing = NeedAnswer::failed(need, Failure::TimedOut, ctx.now());
            self.core.answer(nothing);
        }
        self.run()
    }

    /// Sends data, once the handshake is done.
    pub fn send(&mut self, data: &[u8]) -> Result<(), Error> {
        self.open()?;
        if self.has_closed {
            return Err(Error::Misused("the sending side is closed"));
        }
        if self.core.records.is_worn() {
            self.update_keys(false)?;
        }
        self.has_answered_update = false;
        // A peer that only receives sends no data between its KeyUpdates.
        self.idle_records = 0;
        let sent = self.core.records.send(ContentType::ApplicationData, data);
        sent.map_err(|refusal| self.fail(refusal))
    }

    /// Sends data before the handshake is done, and returns how many bytes: as many as the ticket allows, or 0 if there
    /// is no such ticket or [`ClientConfig::with_early_data`] is off. Whether the server took the data is known once
    /// the handshake is done ([`Connection::is_early_data_taken`]); if it did not, the data is lost, and may be sent
    /// again.
    ///
    /// Send only data that does no harm if the server processes it twice (RFC 8446 §8), and that may be read by a thief
    /// of the server's ticket keys later (§2.3).
    pub fn send_early(&mut self, data: &[u8]) -> Result<usize, Error> {
        self.failed()?;
        if !matches!(self.machine, ConnectionMachine::Client(_)) || self.has_closed {
            return Ok(0);
        }
        let data = data.get(..self.core.early.room).unwrap_or(data);
        let sent = self.core.records.send(ContentType::ApplicationData, data);
        sent.map_err(|refusal| self.fail(refusal))?;
        self.core.early.room = self.core.early.room.saturating_sub(data.len());
        Ok(data.len())
    }

    /// Bytes that [`Connection::send_early`] still accepts.
    pub fn early_room(&self) -> usize {
        match &self.machine {
            ConnectionMachine::Client(_) => self.core.early.room,
            _ => 0,
        }
    }

    /// Returns early data received by a server ([`ServerConfig::with_early_data`]) while the handshake continues. It is
    /// kept apart from all other data, since it may be a replay. Its sender is [`Connection::early_peer`].
    pub fn take_early_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.core.early.came)
    }

    /// The client that sends early data. It was judged again when its hello arrived, and knows its ticket's secret.
    /// That it is connected now is certain only once the handshake is done.
    pub fn early_peer(&self) -> Option<&Peer> {
        match &self.machine {
            ConnectionMachine::Server(state) => state.early_peer(),
            ConnectionMachine::Open(done) if !self.core.is_client && self.core.early.is_taken => {
                Some(&done.peer)
            }
            _ => None,
        }
    }

    /// Whether the server accepts early data on this connection; final once the handshake is done.
    pub fn is_early_data_taken(&self) -> bool {
        self.core.early.is_taken
    }

    /// Sends data from a server while early data arrives, before the handshake is done. Only the sender of this hello,
    /// which knows the ticket's secret, can read it.
    pub fn answer_early(&mut self, data: &[u8]) -> Result<(), Error> {
        self.failed()?;
        if self.early_peer().is_none() || self.is_open() || self.has_closed {
            return Err(Error::Misused("there is no early data to answer"));
        }
        let sent = self.core.records.send(ContentType::ApplicationData, data);
        sent.map_err(|refusal| self.fail(refusal))
    }

    /// Changes our sending key; asks the peer to change its own if `of_both`.
    pub fn update_keys(&mut self, of_both: bool) -> Result<(), Error> {
        self.open()?;
        if self.has_closed {
            return Err(Error::Misused("the sending side is closed"));
        }
        let updated = self.send_key_update(of_both);
        updated.map_err(|refusal| self.fail(refusal))
    }

    /// Says that we send no more. Data from the peer can still be received.
    pub fn close(&mut self) -> Result<(), Error> {
        self.failed()?;
        if std::mem::replace(&mut self.has_closed, true) {
            return Ok(());
        }
        let sent = self.core.send_alert(Alert::CloseNotify);
        sent.map_err(|refusal| self.fail(refusal))
    }

    /// Ends an open connection, and sends the peer the refusal's alert. Like an error, this is permanent.
    pub fn refuse(&mut self, refusal: Refusal) -> Result<(), Error> {
        self.open()?;
        match self.has_closed {
            // Nothing may follow close_notify (RFC 8446 §6.1).
            true => self.end(Error::Refused(refusal)),
            false => self.fail(refusal),
        };
        Ok(())
    }

    /// Exports key material of this connection (RFC 8446 §7.5).
    pub fn export(&self, label: &str, context: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let done = self.open()?;
        let exported = done.exporter.export(label, context, output);
        exported.map_err(|_| Error::Misused("the label or the key material is too long"))
    }

    /// Whether the handshake is done and the peer was accepted.
    pub fn is_open(&self) -> bool {
        matches!(self.machine, ConnectionMachine::Open(_))
    }

    /// Whether the peer has said that it sends no more.
    pub fn has_peer_closed(&self) -> bool {
        self.has_peer_closed
    }

    /// The peer, once the handshake is done.
    pub fn peer(&self) -> Option<&Peer> {
        self.open().ok().map(|done| &done.peer)
    }

    /// The application protocol, if one was chosen.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.open().ok()?.protocol.as_deref()
    }

    /// The cipher suite and the group, once the handshake is done.
    pub fn parameters(&self) -> Option<(Suite, Group)> {
        let done = self.open().ok()?;
        Some((done.cipher.suite(), done.group))
    }

    fn open(&self) -> Result<&Done, Error> {
        match &self.machine {
            ConnectionMachine::Open(done) => Ok(done),
            ConnectionMachine::Failed(error) => Err(*error),
            ConnectionMachine::Client(_) | ConnectionMachine::Server(_) => {
                Err(Error::Misused("the handshake is not done yet"))
            }
        }
    }

    fn failed(&self) -> Result<(), Error> {
        match &self.machine {
            ConnectionMachine::Failed(error) => Err(*error),
            _ => Ok(()),
        }
    }

    fn fail(&mut self, refusal: Refusal) -> Error {
        // If the alert cannot be sent, the stream ends without it.
        let _ = self.core.send_alert(refusal.alert);
        self.end(Error::Refused(refusal))
    }

    fn end(&mut self, error: Error) -> Error {
        self.core.settle();
        self.incoming.clear();
        self.core.early.came.clear();
        self.machine = ConnectionMachine::Failed(error);
        error
    }

    /// Resumes a suspended handshake, then reads all complete records.
    fn run(&mut self) -> Result<(), Error> {
        self.resume().map_err(|refusal| self.fail(refusal))?;
        let mut cursor = self.core.records.cursor();
        while !self.is_suspended() && !self.has_peer_closed {
            let next = self.core.records.next(&mut cursor);
            let Some(record) = next.map_err(|refusal| self.fail(refusal))? else {
                break;
            };
            if let Err(error) = self.take(record) {
                return Err(match error {
                    Error::Refused(refusal) => self.fail(refusal),
                    other => self.end(other),
                });
            }
        }
        self.core.records.forget(cursor);
        let is_full = self.core.records.waiting() > self.core.limits.waiting;
        if self.is_suspended() && is_full {
            return Err(self.fail(Refusal::unexpected(
                "too much data before the handshake is done",
            )));
        }
        Ok(())
    }

    /// Whether the handshake is suspended until evidence arrives; bytes received until then are kept, within the limit.
    pub fn is_suspended(&self) -> bool {
        match &self.machine {
            ConnectionMachine::Client(state) => state.is_suspended(),
            ConnectionMachine::Server(state) => state.is_suspended(),
            ConnectionMachine::Open(_) | ConnectionMachine::Failed(_) => false,
        }
    }

    fn take(&mut self, record: Record) -> Result<(), Error> {
        match record.content {
            ContentType::ChangeCipherSpec => match &self.machine {
                ConnectionMachine::Server(state) if state.has_no_hello() => {
                    Err(OUT_OF_PLACE.into())
                }
                ConnectionMachine::Client(_) | ConnectionMachine::Server(_) => {
                    self.core.receive_ccs()?;
                    Ok(self.count_idle()?)
                }
                ConnectionMachine::Open(_) | ConnectionMachine::Failed(_) => {
                    Err(OUT_OF_PLACE.into())
                }
            },
            ContentType::Alert => self.take_alert(&record.bytes),
            ContentType::ApplicationData => self.take_data(&record.bytes).map_err(Error::from),
            ContentType::Handshake => {
                self.core.join(&record.bytes);
                while let Some(raw) = self.core.next_message()? {
                    let message = Message::parse(&raw, self.core.profile)?;
                    self.take_message(message, &raw)?;
                }
                Ok(())
            }
        }
    }

    fn take_alert(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.core.check_between_messages()?;
        let [_, code] = bytes else {
            return Err(Refusal::decode("an alert of the wrong length").into());
        };
        match Alert::from_code(*code) {
            Alert::CloseNotify if self.is_open() => {
                self.has_peer_closed = true;
                Ok(())
            }
            // The peer will send close_notify next (§6.1).
            Alert::UserCanceled => self.count_idle().map_err(Error::from),
            alert => Err(Error::Alerted(alert)),
        }
    }

    fn take_data(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let is_early = match &self.machine {
            ConnectionMachine::Open(_) => false,
            ConnectionMachine::Server(state) if state.early_peer().is_some() => true,
            _ => return Err(Refusal::unexpected("data before the handshake is done")),
        };
        self.core.check_between_messages()?;
        if bytes.is_empty() {
            return self.count_idle();
        }
        self.idle_records = 0;
        match is_early {
            true => self.take_early(bytes),
            false => {
                self.incoming.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn take_early(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let early = &mut self.core.early;
        let room = early.room.checked_sub(bytes.len());
        early.room = room.ok_or(server::TOO_MUCH)?;
        early.came.extend_from_slice(bytes);
        Ok(())
    }

    fn count_idle(&mut self) -> Result<(), Refusal> {
        self.idle_records = self.idle_records.saturating_add(1);
        match self.idle_records > MAX_IDLE_RECORDS {
            true => Err(Refusal::unexpected("too many records without content")),
            false => Ok(()),
        }
    }

    fn take_message(&mut self, message: Message, raw: &[u8]) -> Result<(), Refusal> {
        let core = &mut self.core;
        // If a step fails, this state remains.
        let machine = std::mem::replace(&mut self.machine, ConnectionMachine::Failed(IN_BETWEEN));
        self.machine = match machine {
            ConnectionMachine::Client(state) => {
                ConnectionMachine::of_client(state.receive(core, message, raw)?)
            }
            ConnectionMachine::Server(state) => {
                ConnectionMachine::of_server(state.receive(core, message, raw)?)
            }
            ConnectionMachine::Open(done) => {
                self.machine = ConnectionMachine::Open(done);
                return self.take_late(message);
            }
            failed @ ConnectionMachine::Failed(_) => failed,
        };
        Ok(())
    }

    fn resume(&mut self) -> Result<(), Refusal> {
        let core = &mut self.core;
        let machine = std::mem::replace(&mut self.machine, ConnectionMachine::Failed(IN_BETWEEN));
        self.machine = match machine {
            ConnectionMachine::Client(state) => ConnectionMachine::of_client(state.resume(core)?),
            ConnectionMachine::Server(state) => ConnectionMachine::of_server(state.resume(core)?),
            other => other,
        };
        Ok(())
    }

    /// Processes messages after the handshake (§4.6).
    fn take_late(&mut self, message: Message) -> Result<(), Refusal> {
        match message {
            Message::KeyUpdate(is_requested) => {
                self.count_idle()?;
                self.core.check_between_messages()?;
                self.core.records.update_read()?;
                // One answer covers all requests that arrived while nothing was sent (§4.6.3).
                let has_answered = self.has_answered_update || self.has_closed;
                match is_requested && !has_answered {
                    true => {
                        self.has_answered_update = true;
                        self.send_key_update(false)
                    }
                    false => Ok(()),
                }
            }
            Message::NewSessionTicket(ticket) if self.core.is_client => {
                self.count_idle()?;
                let ConnectionMachine::Open(done) = &self.machine else {
                    return Ok(());
                };
                match &done.tickets {
                    Some(tickets) => tickets.keep(ticket, &done.peer, self.core.now),
                    None => Ok(()),
                }
            }
            _ => Err(Refusal::unexpected(
                "a handshake message after the handshake",
            )),
        }
    }

    fn send_key_update(&mut self, of_both: bool) -> Result<(), Refusal> {
        self.core.queue(&Message::KeyUpdate(of_both))?;
        self.core.flush()?;
        self.core.records.update_write()
    }
}

const OUT_OF_PLACE: Refusal =
    Refusal::unexpected("a change_cipher_spec before the first hello or after the handshake");
const IN_BETWEEN: Error = Error::Misused("a step of the handshake failed");

impl ConnectionMachine {
    fn of_client(next: HandshakeNext<client::ClientState>) -> Self {
        match next {
            HandshakeNext::State(state) => Self::Client(state),
            HandshakeNext::Done(done) => Self::Open(done),
        }
    }

    fn of_server(next: HandshakeNext<server::ServerState>) -> Self {
        match next {
            HandshakeNext::State(state) => Self::Server(state),
            HandshakeNext::Done(done) => Self::Open(done),
        }
    }
}
