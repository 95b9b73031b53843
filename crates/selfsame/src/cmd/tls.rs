//! `selfsame tls`: connections whose ends authenticate by DIDs and credentials.

mod advice;
mod client;
mod figures;
mod identity;
mod proxy;
mod server;
mod tell;

use clap::{Args, Subcommand};

use crate::exit::End;

/// Connect and be connected to by DIDs and credentials, in TLS 1.3.
///
/// This TLS code is young and unaudited: docs/tls.md says what the exposure is.
#[derive(Args)]
#[command(after_help = "Example: selfsame tls identity new --identity node
         selfsame tls proxy --identity node --listen 0.0.0.0:7443 --to 127.0.0.1:8080 \\
             --trust-issuer did:web:issuer.example --expect-anybody")]
pub struct Tls {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Listen, print who connects, and echo or print what they send.
    Server(Box<server::Server>),
    /// Connect, print who answers, and carry standard input and output.
    Client(Box<client::Client>),
    /// Put TLS in front of any TCP service, or dial out with TLS for any TCP client.
    Proxy(Box<proxy::Proxy>),
    /// Make, show, change and end what this node is; fetch its credential.
    Identity(Box<identity::Identity>),
}

impl Tls {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            Verb::Server(server) => server.run().await,
            Verb::Client(client) => client.run().await,
            Verb::Proxy(proxy) => proxy.run().await,
            Verb::Identity(identity) => identity.run().await,
        }
    }
}
