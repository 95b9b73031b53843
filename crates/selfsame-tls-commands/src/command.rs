//! `selfsame tls`: connections whose ends authenticate by DIDs and credentials.

use clap::{Args, Subcommand};
use selfsame_terminal::exit::End;

use crate::hooks::Hooks;
use crate::{client, identity, proxy, server};

/// Connect with TLS 1.3, authenticated by DIDs and credentials.
///
/// This TLS code is new and unaudited: docs/tls.md describes the risks.
#[derive(Args)]
#[command(after_help = "Example: selfsame tls identity new --identity node
         selfsame tls proxy --identity node --listen 0.0.0.0:7443 --to 127.0.0.1:8080 \\
             --trust-issuer did:web:issuer.example --expect-anybody")]
pub struct Tls {
    #[command(subcommand)]
    verb: TlsVerb,
}

#[derive(Subcommand)]
enum TlsVerb {
    /// Listen, print the identity of each client, and echo or print what it sends.
    Server(Box<server::Server>),
    /// Connect, print the identity of the server, and relay standard input and output.
    Client(Box<client::TlsClient>),
    /// Put TLS in front of any TCP service, or connect with TLS for any TCP client.
    Proxy(Box<proxy::Proxy>),
    /// Create, show, update and deactivate this node's identity; fetch its credential.
    Identity(Box<identity::Identity>),
}

impl Tls {
    /// Runs the subcommand.
    pub async fn run(self, hooks: Hooks) -> End {
        match self.verb {
            TlsVerb::Server(server) => server.run(hooks).await,
            TlsVerb::Client(client) => client.run(hooks).await,
            TlsVerb::Proxy(proxy) => proxy.run(hooks).await,
            TlsVerb::Identity(identity) => identity.run(hooks).await,
        }
    }
}
