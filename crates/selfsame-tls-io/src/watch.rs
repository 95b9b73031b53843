//! Open connections are watched: who is at the other end is judged again, and nobody stays for ever.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::evidence::{Answer, Evidence, Failure};
use selfsame_tls::identity::{Again, Peer};
use selfsame_tls::{Alert, ClientConfig, Need, Refusal, ServerConfig};
use tokio::sync::Semaphore;
use tokio::sync::watch::Receiver;
use tokio::time::{sleep, timeout};

use crate::gather::Gather;
use crate::settings::Settings;

/// Those of an acceptor or connector that are judged at the same time: after a change of its configuration all are.
pub(crate) const AT_ONCE: usize = 16;
/// The issuer's keys, then the subject and the lists; more is a judgement in circles.
const MAX_ROUNDS: usize = 4;
/// Seconds for which somebody goes on of whom nothing can be found out, where what was found before has no end.
const UNKNOWN_FOR: u64 = 300;

/// How an open connection is watched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Watch {
    /// After each such time the peer is judged again, and whenever the configuration becomes another.
    pub every: Duration,
    /// A connection lasts no longer.
    pub longest: Option<Duration>,
}

impl Default for Watch {
    /// Every 30 seconds, however long it lasts.
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
    /// The peer would not be let in any more.
    #[error("the peer is not to be let in any more: {0}")]
    Over(Refusal),
    /// It was not to be found out for too long whether it would be.
    #[error("it could not be found out whether the peer is still to be let in: {0}")]
    Unknown(Refusal),
    /// It has lasted for [`Watch::longest`].
    #[error("the connection has lasted as long as one may")]
    Longest,
}

impl Lapse {
    /// What the peer is told. That it lasted long enough is no end of what was sent, so it is no close_notify.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Over(refusal) | Self::Unknown(refusal) => *refusal,
            Self::Longest => Refusal::new(
                Alert::AccessDenied,
                "the connection has lasted as long as one may",
            ),
        }
    }
}

/// A configuration that judges again who is connected.
pub(crate) trait Judge: Send + Sync {
    fn again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again;
}

impl Judge for ServerConfig {
    fn again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again {
        self.judge_again(peer, evidence, now)
    }
}

impl Judge for ClientConfig {
    fn again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again {
        self.judge_again(peer, evidence, now)
    }
}

/// Who is judged again, and by what.
pub(crate) struct Watched<'a, T, G: ?Sized> {
    pub peer: &'a Peer,
    pub settings: &'a Settings<G>,
    pub at_once: &'a Semaphore,
    pub config: Receiver<Arc<T>>,
}

impl<T: Judge, G: Gather + ?Sized> Watched<'_, T, G> {
    /// Until the connection has to end.
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
                // Whoever watches keeps the sender.
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
                // It asks for what it was told already.
                Again::Needs(_) => {}
            }
        }
    }

    async fn judged(&self) -> Again {
        let _one_of_few = self.at_once.acquire().await;
        let config = Arc::clone(&self.config.borrow());
        let mut evidence = Evidence::default();
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

async fn ask<G: Gather + ?Sized>(settings: &Settings<G>, need: Need, now: UnixTime) -> Answer {
    let answer = timeout(settings.handshake, settings.gather.gather(&need, now)).await;
    answer.unwrap_or_else(|_| Answer::failed(need, Failure::TimedOut, now))
}
