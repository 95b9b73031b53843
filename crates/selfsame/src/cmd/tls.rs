//! `selfsame tls`: connections whose ends authenticate by DIDs and credentials.

mod advice;
mod client;
mod identity;
mod proxy;
mod server;
mod tell;

use clap::{Args, Subcommand};

use crate::exit::End;

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
    pub async fn run(self) -> End {
        match self.verb {
            TlsVerb::Server(server) => server.run().await,
            TlsVerb::Client(client) => client.run().await,
            TlsVerb::Proxy(proxy) => proxy.run().await,
            TlsVerb::Identity(identity) => identity.run().await,
        }
    }
}
