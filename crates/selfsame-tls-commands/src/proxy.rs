//! `selfsame tls proxy`: adds TLS in front of any TCP service, or connects with TLS for any TCP client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use selfsame_proxy::{Carriage, Direction, Figures, ProxyBounds, Relay, Terms};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::until_told_to_go;
use selfsame_terminal::{log, output};
use selfsame_tls_io::{Acceptor, Connector, Watch};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::advice;
use crate::client::place;
use crate::hooks::Hooks;
use crate::node::{Node, Standing, reloaded, settings};
use crate::peers::{PeerRules, Spoken};
use crate::server::bind;
use crate::tell::Report;

/// Put TLS in front of any TCP service, or connect with TLS for any TCP client.
///
/// Prints one line for each connection: the peer's identity or why it was refused, and the number of bytes. On SIGHUP
/// reads the identity and the policy files again, and verifies the peers of open connections again, as it does every
/// --reuse seconds. The connections of peers that are no longer admitted are closed.
#[derive(Args)]
#[command(after_help = "Example, in front of a service:
         selfsame tls proxy --identity node --listen 0.0.0.0:7443 --to 127.0.0.1:1883 \\
             --trust-issuer did:web:issuer.example --expect-anybody
Example, for a client without TLS:
         selfsame tls proxy --identity sensor --listen-plain 127.0.0.1:1883 --connect broker.example:7443 \\
             --trust-issuer did:web:issuer.example --expect-claim dns=broker.example")]
pub struct Proxy {
    /// The address to listen on for TLS.
    #[arg(long, value_name = "ADDRESS", requires = "to", conflicts_with_all = ["listen_plain", "connect"])]
    listen: Option<SocketAddr>,
    /// The service to connect to: HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", requires = "listen", value_parser = place)]
    to: Option<String>,
    /// The address to listen on for plain connections; keep it on loopback, since its clients act as this node.
    #[arg(long, value_name = "ADDRESS", requires = "connect")]
    listen_plain: Option<SocketAddr>,
    /// The server to connect to with TLS: HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", requires = "listen_plain", value_parser = place)]
    connect: Option<String>,
    #[command(flatten)]
    node: Node,
    #[command(flatten)]
    policy: PeerRules,
    /// Accept clients without authentication; the service gets no identity.
    #[arg(long, requires = "listen")]
    anonymous_clients: bool,
    #[command(flatten)]
    spoken: Spoken,
    /// Send the client's identity to the service before the first byte; the service must expect it.
    #[arg(long, value_enum, requires = "listen")]
    tell: Option<Telling>,
    #[command(flatten)]
    bounds: Bounds,
    /// Serve metrics for Prometheus on this loopback address: http://ADDRESS/metrics.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Print one JSON object for each connection instead of text. Each line on standard error is one JSON object too.
    #[arg(long)]
    json: bool,
}

/// A way to send the client's identity to the service.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Telling {
    /// A header of the PROXY protocol, version 2, with its fields for TLS and, from 0xe0 on, DID, issuer, claims and
    /// the certificate's SHA-256.
    ProxyV2,
}

#[derive(Args, Clone)]
struct Bounds {
    /// Maximum number of connections; further ones are closed at once.
    #[arg(long, value_name = "COUNT", default_value_t = 1024)]
    connections: usize,
    /// Maximum number of connections from one address (for IPv6, from one /64); default: a quarter of --connections.
    /// Behind a relay with a single address, set it to --connections.
    #[arg(long, value_name = "COUNT", requires = "listen")]
    per_address: Option<usize>,
    /// Maximum number of handshakes in progress; a new one replaces the oldest from which nothing has arrived. One
    /// address has the same share of handshakes as of connections.
    #[arg(long, value_name = "COUNT", default_value_t = 256)]
    handshakes: usize,
    /// Seconds without traffic after which a connection is closed.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    idle: u64,
    /// Maximum duration of a connection in seconds, even if it is in use; without it, a connection lasts until one end
    /// closes it or its peer is no longer admitted.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    longest: Option<u64>,
    /// Seconds to connect to the other end.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    dial: u64,
    /// Seconds that connections may continue after Ctrl-C or SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
}

impl Bounds {
    fn bounds(&self) -> ProxyBounds {
        ProxyBounds {
            connections: self.connections,
            per_address: self.per_address,
            handshakes: self.handshakes,
            idle: Duration::from_secs(self.idle),
            dial: Duration::from_secs(self.dial),
            grace: Duration::from_secs(self.grace),
        }
    }
}

/// The report on a connection.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    report: Report,
    from: String,
    up: u64,
    down: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

impl Proxy {
    /// Runs the proxy until it is stopped.
    pub async fn run(self, hooks: Hooks) -> End {
        if self.json {
            output::complain_in_json();
        }
        log::start();
        let bounds = &self.bounds;
        if bounds.connections == 0 || bounds.idle == 0 || bounds.handshakes == 0 {
            return Err(Failure::environment(
                "--connections, --handshakes and --idle must be at least 1",
            ));
        }
        if let Some(open) = self.listen_plain.filter(|plain| !plain.ip().is_loopback()) {
            output::complain(&format!(
                "{open} is not on loopback: any program that reaches it is authenticated as this node"
            ));
        }
        let standing = self.node.stand(hooks).await?;
        let direction = self.direction(self.terms(&standing).await?, &standing)?;
        let address = self.listen.or(self.listen_plain).ok_or_else(unsaid)?;
        let figures = Arc::new(Figures::default());
        if let Some(metrics) = self.metrics {
            serve_metrics(metrics, Arc::clone(&figures)).await?;
        }
        let mut hangup = signal(SignalKind::hangup())?;
        let listener = bind(address).await?;
        let (json, end) = (self.json, self.end());
        let relay = Arc::new(Relay {
            direction,
            watch: Watch {
                every: self.node.judged_every(),
                longest: self.bounds.longest.map(Duration::from_secs),
            },
            bounds: self.bounds.bounds(),
            figures,
            clock: settings(&standing.app, Arc::clone(&standing.gather) as _).clock,
        });
        let again = Arc::clone(&relay);
        let reloading = tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                self.reload(&standing, &again).await;
            }
        });
        let tell = move |carriage: &Carriage| Told::of(carriage, end).print(json);
        let cut = relay.serve(listener, until_told_to_go(), tell).await;
        reloading.abort();
        if cut > 0 {
            output::complain(&format!("{cut} connections were cut at shutdown"));
        }
        Ok(Answer::Yes)
    }

    /// Reads the identity and the policy files again without interrupting connections. On failure nothing changes.
    async fn reload(&self, standing: &Standing, relay: &Relay) {
        let terms = self.terms(standing).await;
        relay.figures.reloaded(terms.is_ok());
        if let Some(terms) = reloaded(terms) {
            relay.reconfigure(terms);
        }
    }

    /// The end of TLS that this process is.
    fn end(&self) -> advice::End {
        match self.to {
            Some(_) => advice::End::Server,
            None => advice::End::Client,
        }
    }

    /// The direction, with the TLS configuration.
    fn direction(&self, terms: Terms, standing: &Standing) -> Result<Direction, Failure> {
        let settings = settings(&standing.app, Arc::clone(&standing.gather) as _);
        match (terms, &self.to, &self.connect) {
            (Terms::Server(config), Some(to), _) => Ok(Direction::Inward {
                acceptor: Acceptor::new(config, settings)
                    .with_bounds(self.bounds.bounds().under_way()),
                to: to.clone(),
                tells: self.tell == Some(Telling::ProxyV2),
            }),
            (Terms::Client(config), _, Some(to)) => Ok(Direction::Outward {
                connector: Connector::new(config, settings),
                to: to.clone(),
            }),
            _ => Err(unsaid()),
        }
    }

    /// The TLS configuration from the current identity and policy files.
    async fn terms(&self, standing: &Standing) -> Result<Terms, Failure> {
        let mut own = self.node.own(standing).await?;
        own.spoken = self.spoken.clone();
        own.called.clone_from(&self.connect);
        let asks = !self.anonymous_clients;
        match (&self.to, &self.connect) {
            (Some(_), None) => Ok(Terms::Server(self.policy.server(own, asks)?)),
            (None, Some(_)) => Ok(Terms::Client(self.policy.client(own)?)),
            _ => Err(unsaid()),
        }
    }
}

fn unsaid() -> Failure {
    Failure::environment("no addresses are given to carry connections between")
        .hint("use --listen with --to, or --listen-plain with --connect")
}

/// Serves metrics there, and reports the address.
async fn serve_metrics(address: SocketAddr, figures: Arc<Figures>) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        return Err(Failure::environment(format!(
            "--metrics {address} is not on loopback, and the metrics show which peers are admitted and refused"
        ))
        .hint("choose a loopback address, such as 127.0.0.1:9090"));
    }
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::environment(format!("--metrics {address}: {error}"))
            .hint("the port may be in use; choose another port")
    })?;
    output::complain(&format!(
        "metrics on http://{}/metrics",
        listener.local_addr()?
    ));
    figures.serve(listener);
    Ok(())
}

impl Told {
    fn of(carriage: &Carriage, end: advice::End) -> Self {
        Self {
            report: match &carriage.admitted {
                Ok(admitted) => Report::of(&admitted.peer, admitted.at),
                Err(error) => Report::refused(error, end),
            },
            from: carriage.from.to_string(),
            up: carriage.up,
            down: carriage.down,
            cut: carriage.cut.as_ref().map(ToString::to_string),
        }
    }

    fn print(&self, json: bool) {
        output::either(json, self, |told| {
            let who = told.report.lines().into_iter().next().unwrap_or_default();
            let cut = told.cut.as_ref().map(|cut| format!("  cut: {cut}"));
            vec![format!(
                "{who}  from {}  {} bytes up, {} down{}",
                told.from,
                told.up,
                told.down,
                cut.unwrap_or_default()
            )]
        });
    }
}
