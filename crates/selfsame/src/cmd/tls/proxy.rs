//! `selfsame tls proxy`: adds TLS in front of any TCP service, or connects with TLS for any TCP client.

mod carry;
mod header;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use selfsame_tls_io::{Acceptor, Bounds as UnderWay, Connector, Room, Watch};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use self::carry::{Shared, Terms, Way};
use super::client::place;
use super::figures::{self, Figures};
use super::server::bind;
use crate::cmd::up::until_told_to_go;
use crate::exit::{Answer, End, Failure};
use crate::node::{Node, Standing, reloaded, settings};
use crate::output;
use crate::peers::{Policy, Spoken};

/// The pause after a failed accept, so that a lack of resources does not cause a busy loop.
const BREATH: Duration = Duration::from_millis(50);

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
    policy: Policy,
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
    /// Maximum number of connections of one address.
    fn share(&self) -> usize {
        let share = self.per_address.unwrap_or(self.connections.div_ceil(4));
        share.clamp(1, self.connections)
    }

    /// The limits for unfinished handshakes; one address has the same share of them.
    fn under_way(&self) -> UnderWay {
        let share = self.handshakes.saturating_mul(self.share());
        UnderWay {
            handshakes: self.handshakes,
            share: share.div_ceil(self.connections.max(1)),
            ..UnderWay::default()
        }
    }

    /// Plain connections come from this machine, so they have no limit per address.
    fn room(&self, is_inward: bool) -> Room {
        let share = if is_inward {
            self.share()
        } else {
            self.connections
        };
        Room::new(self.connections, share)
    }
}

impl Proxy {
    /// Runs the proxy until it is stopped.
    pub async fn run(self) -> End {
        if self.json {
            output::complain_in_json();
        }
        crate::log::start();
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
        let standing = self.node.stand().await?;
        let way = self.way(self.terms(&standing).await?, &standing)?;
        let address = self.listen.or(self.listen_plain).ok_or_else(unsaid)?;
        let figures = Arc::new(Figures::default());
        if let Some(metrics) = self.metrics {
            figures::tell(metrics, Arc::clone(&figures)).await?;
        }
        let hangup = signal(SignalKind::hangup())?;
        let listener = bind(address).await?;
        let app = Arc::clone(&standing.app);
        let watch = Watch {
            every: self.node.judged_every(),
            longest: self.bounds.longest.map(Duration::from_secs),
        };
        let shared = Shared {
            way,
            watch,
            bounds: self.bounds.clone(),
            figures,
            app,
            json: self.json,
        };
        let proxy = Running {
            shared: Arc::new(shared),
            again: Arc::new(Again {
                proxy: self,
                standing,
                one_at_a_time: Mutex::default(),
            }),
        };
        proxy.serve(listener, hangup).await;
        Ok(Answer::Yes)
    }

    /// The direction, with the TLS configuration.
    fn way(&self, terms: Terms, standing: &Standing) -> Result<Way, Failure> {
        let settings = settings(&standing.app, Arc::clone(&standing.gather) as _);
        match (terms, &self.to, &self.connect) {
            (Terms::Server(config), Some(to), _) => {
                let acceptor = Acceptor::new(config, settings);
                let acceptor = acceptor.with_bounds(self.bounds.under_way());
                let tells = self.tell == Some(Telling::ProxyV2);
                Ok(Way::Inward(acceptor, to.clone(), tells))
            }
            (Terms::Client(config), _, Some(to)) => {
                Ok(Way::Outward(Connector::new(config, settings), to.clone()))
            }
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

/// A running proxy.
struct Running {
    shared: Arc<Shared>,
    again: Arc<Again>,
}

/// What reloading needs.
struct Again {
    proxy: Proxy,
    standing: Standing,
    one_at_a_time: Mutex<()>,
}

impl Running {
    async fn serve(self, listener: TcpListener, mut hangup: Signal) {
        let room = self.shared.bounds.room(self.again.proxy.to.is_some());
        let mut open = JoinSet::new();
        let stop = until_told_to_go();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(()) = hangup.recv() => {
                    self.reload();
                    continue;
                }
                Some(_) = open.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            let place = match room.take(from.ip()) {
                Ok(place) => place,
                Err(full) => {
                    tracing::warn!(%from, "{full}");
                    self.shared.figures.turned_away();
                    continue;
                }
            };
            let carried = self.carry(stream, from);
            open.spawn(async move {
                carried.await;
                drop(place);
            });
        }
        drop(listener);
        let grace = Duration::from_secs(self.shared.bounds.grace);
        let ended = async { while open.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_err() {
            output::complain(&format!("{} connections were cut at shutdown", open.len()));
        }
    }

    fn carry(&self, stream: TcpStream, from: SocketAddr) -> impl Future<Output = ()> + use<> {
        let shared = Arc::clone(&self.shared);
        let counted = shared.figures.open();
        async move {
            let told = shared.carry(stream, from).await;
            drop(counted);
            shared.tell(&told);
        }
    }

    /// Reads the identity and the policy files again without interrupting connections. On failure nothing changes.
    fn reload(&self) {
        let (shared, again) = (Arc::clone(&self.shared), Arc::clone(&self.again));
        tokio::spawn(async move {
            let _one_at_a_time = again.one_at_a_time.lock().await;
            let terms = again.proxy.terms(&again.standing).await;
            shared.figures.reloaded(terms.is_ok());
            if let Some(terms) = reloaded(terms) {
                shared.goes(terms);
            }
        });
    }
}
