//! What a step gives: the next record, messages to send, and what to tell the controller; or why it refuses.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;

use crate::notification::ProblemReport;

/// What a new record begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct Outset {
    /// A type with the prefix and the version of the messages that we begin with. What the peer begins has its own.
    pub kind: MessageType,
    /// The agent's identifier of the connection; `None` without a connection.
    pub connection_id: Option<String>,
    /// The thread or invitation that this one comes from.
    pub parent_thread_id: Option<String>,
}

/// Where a step begins.
#[derive(Debug)]
pub enum Footing<'a, R> {
    /// There is no record yet; a step that is allowed makes one.
    New(&'a Outset),
    /// The record of the thread.
    Known(&'a R),
}

/// What a step gives. All of it belongs into one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Advance<R> {
    /// The record as it is from now on.
    pub record: R,
    /// A record that begins beside it, such as the connection of one of many who use an invitation.
    pub beside: Option<R>,
    /// Messages to send, in order.
    pub send: Vec<Outgoing>,
    /// What happened, for the controller.
    pub tell: Vec<Notice>,
    /// Whether the input had been taken before. Then the record is as it was, and nothing is sent or told.
    pub is_repeated: bool,
}

/// What a step gives, or why it refuses.
pub type Advanced<R> = Result<Advance<R>, Problem>;

/// A message to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// Where it goes.
    pub to: Recipient,
    /// The message.
    pub message: Message,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Recipient {
    /// To the peer, by the connection or by what it gave in place of one (`~service`, RFC 0056).
    Peer,
    /// To the keys and the endpoint of the invitation, because the peer's DID is not known yet.
    Invitation,
    /// To the sender of the message that is refused, by what that message says of it. It need not be the peer.
    Sender,
    /// To people, as a link or a QR code: it is an invitation.
    OutOfBand,
}

/// Something that happened, for the controller. The webhook's topic is that of the protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notice {
    /// The record has a new state.
    State(&'static str),
    /// The peer reported a problem.
    Reported(ProblemReport),
    /// The peer sent the record's protocol something that the record does not keep.
    Received(&'static str),
}

/// Why an input is refused. The record stays as it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{code}: {explain}")]
pub struct Problem {
    /// Who or what is at fault.
    pub kind: ProblemKind,
    /// The code of the protocol's problem report, or of RFC 0035.
    pub code: &'static str,
    /// What is wrong, for people. It contains nothing of a message.
    pub explain: &'static str,
    /// The report to send to the peer, if one is due. A problem report is never answered with another.
    pub report: Option<Box<Outgoing>>,
}

/// What is at fault with an input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProblemKind {
    /// The message belongs to another thread, or to none.
    UnknownThread,
    /// The record's state does not allow this message or act.
    WrongState,
    /// What the message says is not acceptable.
    Content,
    /// The signature is missing, not valid, or made by another key than it must be.
    Signature,
    /// The invitation was used already.
    Used,
}

impl<R> Clone for Footing<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Footing<'_, R> {}

impl<R> Advance<R> {
    /// A step that gives this record and nothing else.
    pub fn of(record: R) -> Self {
        Self {
            record,
            beside: None,
            send: Vec::new(),
            tell: Vec::new(),
            is_repeated: false,
        }
    }

    /// The answer to an input that had been taken before.
    pub fn repeated(record: R) -> Self {
        Self {
            is_repeated: true,
            ..Self::of(record)
        }
    }

    /// With a message.
    #[must_use]
    pub fn send(mut self, to: Recipient, message: Message) -> Self {
        self.send.push(Outgoing { to, message });
        self
    }

    /// With something to tell.
    #[must_use]
    pub fn tell(mut self, notice: Notice) -> Self {
        self.tell.push(notice);
        self
    }
}

impl Problem {
    /// A refusal without a report.
    pub const fn new(kind: ProblemKind, code: &'static str, explain: &'static str) -> Self {
        Self {
            kind,
            code,
            explain,
            report: None,
        }
    }

    /// The message is of another thread than the record.
    pub const fn unknown_thread() -> Self {
        let explain = "the message belongs to another thread";
        Self::new(ProblemKind::UnknownThread, "unknown-thread", explain)
    }

    /// The state does not allow the input.
    pub const fn wrong_state() -> Self {
        let explain = "the state of the exchange does not allow this";
        Self::new(ProblemKind::WrongState, "wrong-state", explain)
    }

    /// With a report to the peer.
    #[must_use]
    pub fn reported(mut self, to: Recipient, message: Message) -> Self {
        self.report = Some(Box::new(Outgoing { to, message }));
        self
    }
}

/// One message of a protocol on its way, as the tables of states name events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Move<K> {
    /// We send it.
    Sends(K),
    /// The peer sent it.
    Receives(K),
}
