//! What an authority is answered when it asks whether a host is served here: in a handshake, and without TLS. Each
//! process answers, since a load balancer may lead the authority to any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use selfsame_crypto::hash::sha256;
use selfsame_driver::Result;
use selfsame_driver::clock::Clock;
use selfsame_http::serve::plain::{PlainAnswers, PlainDoor};
use selfsame_http::tls::{AlpnAnswer, Tls};
use selfsame_store::Store;

use crate::records::AnswerRecord;

/// How long the processes on one database have to show an answer, before the authority is told to ask.
const SPREAD: Duration = Duration::from_secs(5);

/// Shows the answers of all processes.
pub(crate) struct ChallengeAnswers {
    store: Store,
    clock: Clock,
    tls: Tls,
    door: PlainDoor,
    is_beside: bool,
    shown: Mutex<ShownAnswers>,
}

/// What is shown.
#[derive(Clone, Default, Eq, PartialEq)]
struct ShownAnswers {
    answers: Vec<AnswerRecord>,
    hosts: BTreeSet<String>,
}

/// Where answers are kept and shown.
pub(crate) struct AnswerPlaces {
    /// The store of all processes.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// The listener's handshakes.
    pub tls: Tls,
    /// The listener without TLS.
    pub door: PlainDoor,
    /// Whether other processes use the store.
    pub is_beside: bool,
}

impl ChallengeAnswers {
    /// None yet.
    pub fn new(places: AnswerPlaces) -> Self {
        Self {
            store: places.store,
            clock: places.clock,
            tls: places.tls,
            door: places.door,
            is_beside: places.is_beside,
            shown: Mutex::default(),
        }
    }

    /// Shows what the store has. The listener without TLS leads to these hosts.
    pub async fn show(&self, hosts: &BTreeSet<String>) -> Result<()> {
        let answers = AnswerRecord::all(&self.store).await?;
        let next = ShownAnswers {
            answers,
            hosts: hosts.clone(),
        };
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown == next {
            return Ok(());
        }
        self.change(&next);
        *shown = next;
        Ok(())
    }

    /// Has each process give this answer.
    pub async fn give(&self, answer: &AnswerRecord) -> Result<()> {
        answer.keep(&self.store, self.clock.now()).await?;
        let hosts = self.hosts();
        self.show(&hosts).await?;
        if self.is_beside {
            tokio::time::sleep(SPREAD).await;
        }
        Ok(())
    }

    /// Ends the answer for a host.
    pub async fn end(&self, host: &str) -> Result<()> {
        AnswerRecord::forget(&self.store, host).await?;
        let hosts = self.hosts();
        self.show(&hosts).await
    }

    fn hosts(&self) -> BTreeSet<String> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.hosts.clone()
    }

    fn change(&self, next: &ShownAnswers) {
        let in_handshakes: Vec<_> = next.answers.iter().map(in_handshake).collect();
        if let Err(error) = self.tls.answer_challenges(&in_handshakes) {
            tracing::warn!(%error, "the answers to an authority can't be shown in handshakes");
        }
        let tokens = next.answers.iter();
        let tokens: BTreeMap<_, _> = tokens
            .map(|answer| (answer.token.clone(), answer.key_authorization.clone()))
            .collect();
        self.door.set(PlainAnswers {
            tokens,
            hosts: next.hosts.clone(),
        });
    }
}

/// RFC 8737 §3: the digest of the key authorization.
fn in_handshake(answer: &AnswerRecord) -> AlpnAnswer {
    AlpnAnswer {
        host: answer.host.clone(),
        digest: sha256(answer.key_authorization.as_bytes()),
    }
}
