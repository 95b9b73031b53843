//! Watches open connections: judges the peer again at intervals, and limits how long a connection lasts.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::evidence::{Failure, HandshakeEvidence, NeedAnswer};
use selfsame_tls::identity::{Again, Peer};
use selfsame_tls::{Alert, ClientConfig, HandshakeNeed, Refusal, ServerConfig};
use tokio::sync::Semaphore;
use tokio::sync::watch::Receiver;
use tokio::time::{sleep, timeout};

use crate::gather::Gather;
use crate::settings::HandshakeSettings;

/// Peers judged at the same time per acceptor or connector: a change of its configuration triggers a judgement of all.
pub(crate) const AT_ONCE: usize = 16;
/// First the issuer's keys, then the subject and the lists; more rounds mean a loop.
const MAX_ROUNDS: usize = 4;
/// Seconds for which a peer may continue while the check keeps failing, if the earlier evidence has no end.
const UNKNOWN_FOR: u64 = 300;

/// How an open connection is watched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Watch {
    /// Interval between checks; a change of the configuration triggers one too.
    pub every: Duration,
    /// Maximum lifetime of the connection.
    pub longest: Option<Duration>,
}

impl Default for Watch {
    /// Checks every 30 seconds, without a maximum lifetime.
    fn default() -> Self {
        Self {
            every: Duration::from_secs(30),
            longest: None,
        }
    }
}

/// Why an open connection has to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Lapse {
    /// The policy no longer accepts the peer.
    #[error("the peer must no longer be admitted: {0}")]
    Over(Refusal),
    /// For too long, the check could not be completed.
    #[error("whether the peer may still be admitted can't be verified: {0}")]
    Unknown(Refusal),
    /// The connection has reached [`Watch::longest`].
    #[error("the connection has reached its maximum duration")]
    Longest,
}

impl Lapse {
    /// The alert for the peer. Reaching the maximum lifetime does not mean that all data was sent, so it is not
    /// close_notify.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Over(refusal) | Self::Unknown(refusal) => *refusal,
            Self::Longest => Refusal::new(
                Alert::AccessDenied,
                "the connection has reached its maximum duration",
            ),
        }
    }
}

/// A configuration that can judge a connected peer again.
pub(crate) trait Judge: Send + Sync {
    fn again(&self, peer: &Peer, evidence: &HandshakeEvidence, now: UnixTime) -> Again;
}

impl Judge for ServerConfig {
    fn again(&self, peer: &Peer, evidence: &HandshakeEvidence, now: UnixTime) -> Again {
        self.judge_again(peer, evidence, now)
    }
}

impl Judge for ClientConfig {
    fn again(&self, peer: &Peer, evidence: &HandshakeEvidence, now: UnixTime) -> Again {
        self.judge_again(peer, evidence, now)
    }
}

/// A peer that is watched, and how it is judged.
pub(crate) struct Watched<'a, T, G: ?Sized> {
    pub peer: &'a Peer,
    pub settings: &'a HandshakeSettings<G>,
    pub at_once: &'a Semaphore,
    pub config: Receiver<Arc<T>>,
}

impl<T: Judge, G: Gather + ?Sized> Watched<'_, T, G> {
    /// Waits until the connection has to end.
    pub(crate) async fn until_lapse(mut self, watch: Watch) -> Lapse {
        let longest = watch.longest;
        tokio::select! {
            lapse = self.until_over(watch.every) => lapse,
            () = sleep(longest.unwrap_or_default()), if longest.is_some() => Lapse::Longest,
        }
    }

    async fn until_over(&mut self, every: Duration) -> Lapse {
        let mut until = self.peer.until;
        loop {
            tokio::select! {
                () = sleep(every) => {}
                // The sender lives as long as the watcher, so this cannot fail.
                _ = self.config.changed() => {}
            }
            let judged = self.judged().await;
            let now = (self.settings.clock)().now();
            match judged {
                Again::Holds(next) => until = next,
                Again::Over(refusal) => return Lapse::Over(refusal),
                Again::Unknown(refusal) => {
                    let end = *until.get_or_insert(now.plus(UNKNOWN_FOR));
                    if end <= now {
                        return Lapse::Unknown(refusal);
                    }
                }
                // It needs evidence that it was already given.
                Again::Needs(_) => {}
            }
        }
    }

    async fn judged(&self) -> Again {
        let _one_of_few = self.at_once.acquire().await;
        let config = Arc::clone(&self.config.borrow());
        let mut evidence = HandshakeEvidence::default();
        for _ in 0..MAX_ROUNDS {
            let now = (self.settings.clock)().now();
            match config.again(self.peer, &evidence, now) {
                Again::Needs(needs) => {
                    let answers = needs.into_iter().map(|need| ask(self.settings, need, now));
                    evidence.extend(join_all(answers).await);
                }
                judged => return judged,
            }
        }
        config.again(self.peer, &evidence, (self.settings.clock)().now())
    }
}

async fn ask<G: Gather + ?Sized>(
    settings: &HandshakeSettings<G>,
    need: HandshakeNeed,
    now: UnixTime,
) -> NeedAnswer {
    let answer = timeout(settings.handshake, settings.gather.gather(&need, now)).await;
    answer.unwrap_or_else(|_| NeedAnswer::failed(need, Failure::TimedOut, now))
}
