//! WebSockets of peers: each frame is one envelope, and what waits for the peer goes back.
//!
//! A peer that was cut off reads nothing, though what is sent to it fails only later. So a ping goes after each envelope,
//! and the envelope waits until the pong shows that it came.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::IntoResponse as _;
use http::StatusCode;
use selfsame_agent::Agents;
use selfsame_http::error::Problem;
use selfsame_http::middleware::admission::Admission;
use selfsame_http::middleware::budget::{GatePlace, pass};
use selfsame_http::peer::Peer;
use selfsame_http::shares::{Share, Shares};
use selfsame_mediation::line::{ReturnLine, Returned};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// What is read from a socket at once.
const READ_BUFFER: usize = 8 * 1024;
/// Envelopes on their way to a peer; then no more are sent until it has some.
const ON_THE_WAY: usize = 16;
/// How long a peer may take to read that its socket is closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// Envelopes in a row that can't be taken; then the socket is closed.
const REFUSED_MAX: u32 = 16;

/// The limits of sockets.
#[derive(Clone, Copy, Debug)]
pub struct SocketLimits {
    /// Open sockets of one listener.
    pub open: usize,
    /// Open sockets of one network.
    pub each: usize,
    /// The largest envelope, in bytes. So much may be held for each open socket.
    pub envelope: usize,
    /// How long a peer may take to read an envelope. It is not buffered for longer.
    pub sending: Duration,
    /// How often a peer is asked whether it is there.
    pub ping: Duration,
    /// How long a peer may stay silent.
    pub silent: Duration,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            open: 1_024,
            each: 64,
            envelope: 512 * 1024,
            sending: Duration::from_secs(10),
            ping: Duration::from_secs(25),
            silent: Duration::from_secs(60),
        }
    }
}

/// The room for the sockets of one listener.
pub struct Sockets {
    room: Arc<Semaphore>,
    shares: Shares,
    limits: SocketLimits,
}

/// The place of one socket.
pub struct SocketPlace {
    /// The limits.
    pub limits: SocketLimits,
    _room: OwnedSemaphorePermit,
    _share: Share,
}

impl Sockets {
    /// Room with these limits.
    pub fn new(limits: SocketLimits) -> Self {
        Self {
            room: Arc::new(Semaphore::new(limits.open)),
            shares: Shares::default(),
            limits,
        }
    }

    /// A place for one more; `None` if all places are taken, or those of this peer's network.
    pub fn place(&self, peer: Option<Peer>) -> Option<SocketPlace> {
        let network = peer.and_then(Peer::bounded);
        Some(SocketPlace {
            limits: self.limits,
            _share: self.shares.one(network, self.limits.each)?,
            _room: self.room.clone().try_acquire_owned().ok()?,
        })
    }
}

/// A socket that takes and holds no more than these limits allow.
pub fn bounded(upgrade: WebSocketUpgrade, limits: SocketLimits) -> WebSocketUpgrade {
    upgrade
        .max_message_size(limits.envelope)
        .max_frame_size(limits.envelope)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
}

/// What a socket talks to.
pub struct Talk {
    pub agents: Agents,
    pub admission: Arc<Admission>,
    pub limits: SocketLimits,
}

/// A socket in use.
struct Talking {
    talk: Talk,
    socket: WebSocket,
    line: ReturnLine,
    /// Envelopes that were sent, with the numbers of their pings.
    on_the_way: VecDeque<SentEnvelope>,
    /// The number of the last ping.
    pings: u64,
    /// When the peer was heard last.
    heard: Instant,
    /// When it sent the last envelope.
    took: Instant,
    /// Envelopes in a row that could not be taken.
    refused: u32,
}

/// An envelope that was sent, and is removed once the peer has answered the ping behind it.
struct SentEnvelope {
    ping: u64,
    returned: Returned,
}

/// What happens on a socket.
enum Happening {
    Came(Option<Message>),
    Returns(selfsame_driver::Result<Returned>),
    Ticked,
}

/// Whether a socket goes on.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Goes {
    On,
    /// It is closed, for this reason.
    Ends(&'static str),
}

impl Talk {
    /// Talks until either side ends it.
    pub async fn run(self, socket: WebSocket, _place: SocketPlace) {
        let open = metrics::gauge!("selfsame_agent_sockets_open");
        open.increment(1.0);
        let mut pings = interval(self.limits.ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.tick().await;
        let mut talking = Talking {
            line: self.agents.line(true),
            talk: self,
            socket,
            on_the_way: VecDeque::new(),
            pings: 0,
            heard: Instant::now(),
            took: Instant::now(),
            refused: 0,
        };
        loop {
            let has_room = talking.on_the_way.len() < ON_THE_WAY;
            let happening = tokio::select! {
                // What the peer says comes first: it may have ended the connection.
                biased;
                came = talking.socket.recv() => Happening::Came(came.and_then(Result::ok)),
                _ = pings.tick() => Happening::Ticked,
                returned = talking.line.next(), if has_room => Happening::Returns(returned),
            };
            let goes = match happening {
                Happening::Came(Some(message)) => talking.came(message).await,
                Happening::Came(None) => Goes::Ends("the peer has gone"),
                Happening::Returns(Ok(returned)) => talking.give_back(returned).await,
                Happening::Returns(Err(error)) => {
                    tracing::warn!(%error, "what waits for a peer can't be read");
                    Goes::Ends("the store failed")
                }
                Happening::Ticked => talking.tick().await,
            };
            if let Goes::Ends(why) = goes {
                tracing::debug!(why, "a socket is closed");
                let farewell = talking.socket.send(Message::Close(None));
                let _ = timeout(FAREWELL, farewell).await;
                break;
            }
        }
        open.decrement(1.0);
    }
}

impl Talking {
    async fn came(&mut self, message: Message) -> Goes {
        self.heard = Instant::now();
        let envelope = match message {
            Message::Binary(bytes) => bytes.to_vec(),
            Message::Text(text) => text.as_bytes().to_vec(),
            Message::Pong(number) => return self.came_to(&number).await,
            // An end is agreed to when the socket is next read.
            Message::Ping(_) | Message::Close(_) => return Goes::On,
        };
        self.took = Instant::now();
        let mut answer = None;
        let Self { talk, line, .. } = self;
        let taking = async {
            match talk.agents.receive_on(line, envelope).await {
                Ok(back) => {
                    answer = back;
                    StatusCode::ACCEPTED.into_response()
                }
                Err(error) => Problem::from(error).into_response(),
            }
        };
        // It waits for a place as requests do, so that sockets take none of their work.
        let passage = &talk.admission.passage;
        let taken = pass(passage, GatePlace::default(), Box::pin(taking)).await;
        if taken.status().is_success() {
            self.refused = 0;
        } else {
            self.refused = self.refused.saturating_add(1);
        }
        match (answer, taken.status()) {
            (Some(answer), _) => self.send(Message::Binary(answer.into())).await,
            // What came is lost, and the peer must know: it sends it again on another socket.
            (None, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => {
                Goes::Ends("there is no room for its envelope")
            }
            (None, _) if self.refused > REFUSED_MAX => Goes::Ends("it sends nothing of use"),
            (None, _) => Goes::On,
        }
    }

    async fn give_back(&mut self, mut returned: Returned) -> Goes {
        let bytes = std::mem::take(&mut returned.bytes);
        let sent = self.send(Message::Binary(bytes.into())).await;
        if sent != Goes::On {
            return sent;
        }
        if returned.is_delivery() {
            return self.removed(returned).await;
        }
        self.pings = self.pings.wrapping_add(1);
        self.on_the_way.push_back(SentEnvelope {
            ping: self.pings,
            returned,
        });
        let number = self.pings.to_be_bytes().to_vec();
        self.send(Message::Ping(number.into())).await
    }

    /// The peer has what was sent before the ping with this number.
    async fn came_to(&mut self, number: &[u8]) -> Goes {
        let Ok(number) = number.try_into().map(u64::from_be_bytes) else {
            return Goes::On;
        };
        while let Some(first) = self.on_the_way.pop_front() {
            if first.ping > number {
                self.on_the_way.push_front(first);
                break;
            }
            let removed = self.removed(first.returned).await;
            if removed != Goes::On {
                return removed;
            }
        }
        Goes::On
    }

    async fn removed(&mut self, returned: Returned) -> Goes {
        match self.line.returned(returned).await {
            Ok(()) => Goes::On,
            Err(error) => {
                tracing::warn!(%error, "an envelope that went back goes again");
                Goes::Ends("the store failed")
            }
        }
    }

    async fn tick(&mut self) -> Goes {
        let limits = self.talk.limits;
        let is_idle = !self.line.is_open() && self.took.elapsed() > limits.silent;
        match self.heard.elapsed() > limits.silent || is_idle {
            true => Goes::Ends("the peer is silent"),
            false => self.send(Message::Ping(Bytes::new())).await,
        }
    }

    /// Sends, unless the peer does not read.
    async fn send(&mut self, message: Message) -> Goes {
        match timeout(self.talk.limits.sending, self.socket.send(message)).await {
            Ok(Ok(())) => Goes::On,
            Ok(Err(_)) => Goes::Ends("the peer has gone"),
            Err(_) => Goes::Ends("the peer does not read"),
        }
    }
}
