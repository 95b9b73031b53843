//! Resumption of a node's connections: where tickets are kept, what they are sealed with, and that all is judged anew.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::seal::random_seed;
use selfsame_tls::identity::PeerPolicy;
use selfsame_tls::resumption::{AtHand, Rejudge, Revalidate, Sessions, TicketKeys};
use selfsame_tls::{ClientConfig, ServerConfig};

/// Tickets that a client keeps.
const SESSIONS: usize = 1024;
/// A ticket's key seals for so long, and opens for as long again.
const ROTATION: Duration = Duration::from_secs(12 * 3600);

/// What a process resumes with. It ends with the process: nothing of it is written anywhere.
#[derive(Clone, Debug)]
pub struct Resuming {
    sessions: Sessions,
    tickets: TicketKeys,
    at_hand: Arc<dyn AtHand>,
}

impl Resuming {
    /// Judges who resumes by what is at hand there. Its ticket keys are renewed for as long as the runtime lives.
    pub fn new(at_hand: Arc<dyn AtHand>) -> Self {
        let tickets = TicketKeys::new(random_seed());
        let renewed = tickets.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(ROTATION).await;
                renewed.rotate(random_seed());
            }
        });
        Self {
            sessions: Sessions::new(SESSIONS),
            tickets,
            at_hand,
        }
    }

    /// Judges servers by this policy once more.
    pub fn servers(&self, policy: &PeerPolicy) -> Arc<dyn Revalidate> {
        Arc::new(Rejudge::servers(policy.clone(), Arc::clone(&self.at_hand)))
    }

    /// Judges clients by this policy once more.
    pub fn clients(&self, policy: &PeerPolicy) -> Arc<dyn Revalidate> {
        Arc::new(Rejudge::clients(policy.clone(), Arc::clone(&self.at_hand)))
    }

    /// A client that keeps and uses tickets.
    pub fn client(&self, config: ClientConfig) -> ClientConfig {
        config.with_sessions(self.sessions.clone())
    }

    /// A server that gives and takes tickets.
    pub fn server(&self, config: ServerConfig) -> ServerConfig {
        config.with_tickets(self.tickets.clone())
    }
}
