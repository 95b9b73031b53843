//! Shared by client and server: records, assembling and queueing of handshake messages, needs and evidence.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selfsame_crypto::time::UnixTime;

use crate::alert::{Alert, Refusal};
use crate::codec::{ContentType, MESSAGE_HEADER, Message};
use crate::evidence::{HandshakeEvidence, HandshakeNeed, NeedAnswer};
use crate::profile::Profile;
use crate::record_layer::RecordLayer;
use crate::schedule::Traffic;

/// Limits on what a peer may send, and on how long a handshake may wait for evidence.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum bytes of one handshake message.
    pub message: usize,
    /// Maximum bytes that are kept while a handshake waits for evidence.
    pub waiting: usize,
    /// Bytes of early data that are skipped if it is not accepted (RFC 8446 §4.2.10).
    pub early_data: usize,
    /// Seconds that a handshake may wait for evidence.
    pub patience: u64,
    /// Handshakes that may wait at the same time; clones share these places.
    pub suspended: Slots,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 64 * 1024,
            waiting: 32 * 1024,
            early_data: 16 * 1024,
            patience: 10,
            suspended: Slots::new(1024),
        }
    }
}

/// A number of places shared by connections.
#[derive(Clone, Debug)]
pub struct Slots {
    taken: Arc<AtomicUsize>,
    most: usize,
}

impl Slots {
    /// `most` places.
    pub fn new(most: usize) -> Self {
        Self {
            taken: Arc::default(),
            most,
        }
    }

    /// Places in use.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    fn take(&self) -> Option<CoreSlot> {
        let more = |taken: usize| taken.checked_add(1).filter(|taken| *taken <= self.most);
        let taken = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| CoreSlot(Arc::clone(&self.taken)))
    }
}

/// A place, freed on drop.
#[derive(Debug)]
struct CoreSlot(Arc<AtomicUsize>);

impl Drop for CoreSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The needs passed to the driver, and since when.
#[derive(Debug)]
struct AskedNeeds {
    needs: Vec<HandshakeNeed>,
    since: UnixTime,
    /// Whether the handshake does not wait for them yet.
    is_ahead: bool,
    _slot: CoreSlot,
}

/// Early data at either end (RFC 8446 §2.3).
#[derive(Debug, Default)]
pub(crate) struct EarlyFlow {
    /// Bytes that may still be sent or accepted.
    pub(crate) room: usize,
    /// Bytes received and not yet taken by the caller.
    pub(crate) came: Vec<u8>,
    /// Whether the server accepts it, once known.
    pub(crate) is_taken: bool,
}

/// A connection without its state.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) profile: &'static Profile,
    pub(crate) limits: Limits,
    pub(crate) records: RecordLayer,
    pub(crate) evidence: HandshakeEvidence,
    pub(crate) now: UnixTime,
    pub(crate) is_client: bool,
    pub(crate) early: EarlyFlow,
    asked: Option<AskedNeeds>,
    has_news: bool,
    joined: Vec<u8>,
    flight: Vec<u8>,
    has_sent_ccs: bool,
}

impl Core {
    pub(crate) fn new(profile: &'static Profile, limits: Limits, now: UnixTime) -> Self {
        Self {
            profile,
            limits,
            records: RecordLayer::default(),
            evidence: HandshakeEvidence::default(),
            now,
            is_client: false,
            early: EarlyFlow::default(),
            asked: None,
            has_news: false,
            joined: Vec::new(),
            flight: Vec::new(),
            has_sent_ccs: false,
        }
    }

    /// Appends a handshake record's content to the message being assembled.
    pub(crate) fn join(&mut self, bytes: &[u8]) {
        self.joined.extend_from_slice(bytes);
    }

    /// The next handshake message as bytes, if complete. A message that announces too great a length fails at once.
    pub(crate) fn next_message(&mut self) -> Result<Option<Vec<u8>>, Refusal> {
        let Some([_, high, middle, low]) = self.joined.first_chunk::<MESSAGE_HEADER>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([0, *high, *middle, *low]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > self.limits.message {
            return Err(Refusal::decode(
                "a handshake message is longer than the limit",
            ));
        }
        let whole = length.saturating_add(MESSAGE_HEADER);
        if self.joined.len() < whole {
            return Ok(None);
        }
        Ok(Some(self.joined.drain(..whole).collect()))
    }

    pub(crate) fn is_between_messages(&self) -> bool {
        self.joined.is_empty()
    }

    /// Records of other types may not stand between the fragments of a message (RFC 8446 §5.1).
    pub(crate) fn check_between_messages(&self) -> Result<(), Refusal> {
        match self.is_between_messages() {
            true => Ok(()),
            false => Err(Refusal::unexpected(
                "another record inside a handshake message",
            )),
        }
    }

    /// The compatibility record for middleboxes, dropped until the peer's Finished has arrived (RFC 8446 §5, appendix
    /// D.4).
    pub(crate) fn receive_ccs(&self) -> Result<(), Refusal> {
        self.check_between_messages()
    }

    pub(crate) fn send_ccs(&mut self) -> Result<(), Refusal> {
        self.flush()?;
        if std::mem::replace(&mut self.has_sent_ccs, true) {
            return Ok(());
        }
        self.records
            .send_plain(ContentType::ChangeCipherSpec, 0x0303, &[1])
    }

    /// Adds a message to the flight, and returns its bytes for the transcript.
    pub(crate) fn queue(&mut self, message: &Message) -> Result<&[u8], Refusal> {
        let before = std::mem::take(&mut self.flight);
        let start = before.len();
        self.flight = message.write_after(before, self.profile)?;
        Ok(self.flight.get(start..).unwrap_or_default())
    }

    /// Sends the flight in as few records as possible.
    pub(crate) fn flush(&mut self) -> Result<(), Refusal> {
        let flight = std::mem::take(&mut self.flight);
        self.records.send(ContentType::Handshake, &flight)
    }

    /// Sends the peer an alert; discards the unsent flight.
    pub(crate) fn send_alert(&mut self, alert: Alert) -> Result<(), Refusal> {
        self.flight.clear();
        let level = match alert {
            Alert::CloseNotify | Alert::UserCanceled => 1,
            _ => 2,
        };
        self.records
            .send(ContentType::Alert, &[level, alert.code()])
    }

    /// Sets the key for receiving; no message may span the change (§5.1).
    pub(crate) fn set_read(&mut self, traffic: Traffic) -> Result<(), Refusal> {
        self.check_between_messages()?;
        self.records.set_read(traffic);
        Ok(())
    }

    /// Sets the key for sending, effective after the queued messages.
    pub(crate) fn set_write(&mut self, traffic: Traffic) -> Result<(), Refusal> {
        self.flush()?;
        self.records.set_write(traffic);
        Ok(())
    }

    /// Passes needs to the driver, if a place to wait is free. Earlier needs remain.
    pub(crate) fn ask(&mut self, needs: Vec<HandshakeNeed>) -> Result<(), Refusal> {
        let new = needs
            .into_iter()
            .filter(|need| self.evidence.answer(need).is_none());
        let mut new: Vec<HandshakeNeed> = new.collect();
        if let Some(asked) = &mut self.asked {
            if std::mem::replace(&mut asked.is_ahead, false) {
                asked.since = self.now;
            }
            new.retain(|need| !asked.needs.contains(need));
            asked.needs.append(&mut new);
            return Ok(());
        }
        if new.is_empty() {
            return Ok(());
        }
        let slot = self.limits.suspended.take();
        let slot = slot.ok_or(Refusal::internal("too many handshakes wait for evidence"))?;
        self.asked = Some(AskedNeeds {
            needs: new,
            since: self.now,
            is_ahead: false,
            _slot: slot,
        });
        Ok(())
    }

    /// Passes a need to the driver ahead of time, while the peer is still working. If no place to wait is free, it is
    /// passed on when it is needed.
    pub(crate) fn ask_ahead(&mut self, need: HandshakeNeed) {
        if let Some(slot) = self.limits.suspended.take() {
            self.asked = Some(AskedNeeds {
                needs: vec![need],
                since: self.now,
                is_ahead: true,
                _slot: slot,
            });
        }
    }

    /// Takes an answer if it answers a current need.
    pub(crate) fn answer(&mut self, answer: NeedAnswer) {
        let Some(asked) = &mut self.asked else {
            return;
        };
        let (need, before) = (answer.need(), asked.needs.len());
        asked.needs.retain(|wanted| *wanted != need);
        if asked.needs.len() < before {
            self.evidence.add(answer);
            self.has_news = true;
        }
        if asked.is_ahead && asked.needs.is_empty() {
            self.asked = None;
        }
    }

    /// Whether answers arrived since the last call.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    pub(crate) fn needs(&self) -> &[HandshakeNeed] {
        self.asked.as_ref().map_or(&[], |asked| &asked.needs)
    }

    /// Drops all needs.
    pub(crate) fn settle(&mut self) {
        self.asked = None;
    }

    pub(crate) fn is_out_of_patience(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| {
            !asked.is_ahead && self.now.seconds_since(asked.since) >= self.limits.patience
        })
    }
}
