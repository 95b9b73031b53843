//! Resumption of a node's connections: where tickets are kept, their keys, and the new verification of peers.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::seal::random_seed;
use selfsame_tls::identity::PeerPolicy;
use selfsame_tls::resumption::{AtHand, Rejudge, Revalidate, Sessions, TicketKeys};
use selfsame_tls::{ClientConfig, ServerConfig};

/// Maximum number of tickets that a client keeps.
const SESSIONS: usize = 1024;
/// How long a ticket key seals tickets; afterwards it opens them for as long again.
const ROTATION: Duration = Duration::from_secs(12 * 3600);

/// The tickets and ticket keys of a process. They are kept in memory only.
#[derive(Clone, Debug)]
pub struct Resuming {
    sessions: Sessions,
    tickets: TicketKeys,
    at_hand: Arc<dyn AtHand>,
}

impl Resuming {
    /// Peers that resume are verified with the evidence in `at_hand`. Ticket keys rotate as long as the runtime lives.
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

    /// Verifies servers by this policy when they resume.
    pub fn servers(&self, policy: &PeerPolicy) -> Arc<dyn Revalidate> {
        Arc::new(Rejudge::servers(policy.clone(), Arc::clone(&self.at_hand)))
    }

    /// Verifies clients by this policy when they resume.
    pub fn clients(&self, policy: &PeerPolicy) -> Arc<dyn Revalidate> {
        Arc::new(Rejudge::clients(policy.clone(), Arc::clone(&self.at_hand)))
    }

    /// A client configuration that keeps and uses tickets.
    pub fn client(&self, config: ClientConfig) -> ClientConfig {
        config.with_sessions(self.sessions.clone())
    }

    /// A server configuration that issues and accepts tickets.
    pub fn server(&self, config: ServerConfig) -> ServerConfig {
        config.with_tickets(self.tickets.clone())
    }
}
