//! A connection with its buffers for incoming and outgoing bytes, shared by both kinds of stream.

use std::io;

use selfsame_crypto::ctx::Ctx;
use selfsame_tls::evidence::NeedAnswer;
use selfsame_tls::identity::Peer;
use selfsame_tls::{Connection, Error, HandshakeNeed, Refusal};

use crate::buffer::Buffer;
use crate::error::to_io;

/// Bytes of data protected at a time, which bounds the unsent bytes.
const MOST_SEALED: usize = 64 * 1024;
/// Bytes that may be unsent while we still read from the peer; they are answers to its KeyUpdates.
const MOST_WAITING: usize = 128 * 1024;

/// A connection, the data received from the peer, and the bytes to be sent to it.
#[derive(Debug)]
pub(crate) struct Session {
    connection: Connection,
    incoming: Buffer,
    outgoing: Buffer,
    failed: Option<Error>,
    has_closed: bool,
    has_heard: bool,
    has_spoken: bool,
}

impl Session {
    pub(crate) fn new(connection: Connection) -> Self {
        let mut session = Self {
            connection,
            incoming: Buffer::default(),
            outgoing: Buffer::default(),
            failed: None,
            has_closed: false,
            has_heard: false,
            has_spoken: false,
        };
        session.collect();
        session
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether a byte has been received.
    pub(crate) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// Whether there was anything to send; for a server, this means that the client's hello has arrived.
    pub(crate) fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    pub(crate) fn needs(&self) -> &[HandshakeNeed] {
        self.connection.needs()
    }

    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.connection.peer()
    }

    /// Takes bytes from the peer.
    pub(crate) fn receive(&mut self, bytes: &[u8], ctx: &Ctx) -> Result<(), Error> {
        self.has_heard |= !bytes.is_empty();
        let received = match bytes.is_empty() {
            true => self.connection.receive_end(),
            false => self.connection.receive(bytes, ctx),
        };
        self.settle(received)
    }

    pub(crate) fn provide(&mut self, answer: NeedAnswer, ctx: &Ctx) -> Result<(), Error> {
        let provided = self.connection.provide(&answer.into(), ctx);
        self.settle(provided)
    }

    pub(crate) fn check_patience(&mut self, ctx: &Ctx) -> Result<(), Error> {
        let checked = self.connection.check_patience(ctx);
        self.settle(checked)
    }

    /// Sends all of `data` early, or nothing.
    pub(crate) fn send_early(&mut self, data: &[u8]) -> Result<bool, Error> {
        if data.is_empty() || data.len() > self.connection.early_room() {
            return Ok(false);
        }
        let sent = self.connection.send_early(data);
        self.settle(sent.map(drop))?;
        Ok(true)
    }

    /// Passes received early data to `answer`, and sends its reply.
    pub(crate) fn answer_early(
        &mut self,
        answer: &mut impl FnMut(&Peer, &[u8]) -> Vec<u8>,
    ) -> Result<(), Error> {
        let came = self.connection.take_early_data();
        let Some(peer) = self.connection.early_peer().filter(|_| !came.is_empty()) else {
            return Ok(());
        };
        let said = answer(peer, &came);
        let sent = match (said.is_empty(), self.connection.is_open()) {
            (true, _) => Ok(()),
            (false, true) => self.connection.send(&said),
            (false, false) => self.connection.answer_early(&said),
        };
        self.settle(sent)
    }

    /// Changes the keys of both directions.
    pub(crate) fn update_keys(&mut self) -> Result<(), Error> {
        let updated = self.connection.update_keys(true);
        self.collect();
        updated
    }

    /// Copies received data to `to` and returns the count, or `None` if more has to be received first.
    pub(crate) fn read(&mut self, to: &mut [u8]) -> io::Result<Option<usize>> {
        if !self.incoming.is_empty() {
            return Ok(Some(self.incoming.take_into(to)));
        }
        match self.failed {
            Some(error) => Err(to_io(error)),
            None if self.connection.has_peer_closed() => Ok(Some(0)),
            None => Ok(None),
        }
    }

    /// Protects the beginning of `data` and returns the count. All bytes protected before must have been sent.
    pub(crate) fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let count = data.len().min(MOST_SEALED);
        let sent = self.connection.send(data.get(..count).unwrap_or_default());
        self.settle(sent).map_err(to_io)?;
        Ok(count)
    }

    /// Says that we send no more. A failed connection has sent its alert already.
    pub(crate) fn close(&mut self) {
        if !std::mem::replace(&mut self.has_closed, true) {
            let _failed_before = self.connection.close();
            self.collect();
        }
    }

    /// Ends the connection with an alert. Discards received data that was not read.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        let _failed_before = self.connection.refuse(refusal);
        self.collect();
        self.incoming = Buffer::default();
        self.failed.get_or_insert(Error::Refused(refusal));
    }

    /// Bytes to be sent.
    pub(crate) fn to_send(&self) -> &[u8] {
        self.outgoing.rest()
    }

    pub(crate) fn sent(&mut self, count: usize) {
        self.outgoing.advance(count);
    }

    /// Whether so much is unsent that nothing more should be read.
    pub(crate) fn is_clogged(&self) -> bool {
        self.outgoing.rest().len() > MOST_WAITING
    }

    fn settle(&mut self, done: Result<(), Error>) -> Result<(), Error> {
        self.collect();
        // A call that was misused leaves the connection usable.
        if let Err(error) = done
            && !matches!(error, Error::Misused(_))
        {
            self.failed = Some(error);
        }
        done
    }

    fn collect(&mut self) {
        self.incoming.push(self.connection.take_incoming());
        self.outgoing.push(self.connection.take_outgoing());
        self.has_spoken |= !self.outgoing.is_empty();
    }
}
