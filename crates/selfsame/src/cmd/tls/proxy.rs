//! `selfsame tls proxy`: puts TLS in front of any TCP service, or dials out with TLS for any TCP client.

mod carry;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use selfsame_tls_io::{Acceptor, Connector};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;

use self::carry::{Shared, Way};
use super::client::{place, settings};
use super::figures::{self, Figures};
use super::policy::Policy;
use super::server::bind;
use super::tell::reloaded;
use super::world::{Node, Standing};
use crate::cmd::up::until_told_to_go;
use crate::exit::{Answer, End, Failure};
use crate::output;

/// A breath after an accept that failed, so that a want of resources does not turn in circles.
const BREATH: Duration = Duration::from_millis(50);

/// Put TLS in front of any TCP service, or dial out with TLS for any TCP client.
///
/// One line is printed for each connection: who it was, or why it was refused, and how much was carried; never what.
/// On SIGHUP the identity and the files of the policy are read again; connections that are open go on.
#[derive(Args)]
#[command(after_help = "Example, in front of a service:
         selfsame tls proxy --identity node --listen 0.0.0.0:7443 --to 127.0.0.1:1883 \\
             --trust-issuer did:web:issuer.example --expect-anybody
Example, for a client that knows no TLS:
         selfsame tls proxy --identity sensor --listen-plain 127.0.0.1:1883 --connect broker.example:7443 \\
             --trust-issuer did:web:issuer.example --expect-claim dns=broker.example")]
pub struct Proxy {
    /// Where TLS is listened for.
    #[arg(long, value_name = "ADDRESS", requires = "to", conflicts_with_all = ["listen_plain", "connect"])]
    listen: Option<SocketAddr>,
    /// The service behind: HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", requires = "listen", value_parser = place)]
    to: Option<String>,
    /// Where plain connections are listened for; keep it on loopback, for whoever reaches it speaks as this node.
    #[arg(long, value_name = "ADDRESS", requires = "connect")]
    listen_plain: Option<SocketAddr>,
    /// Where to dial out to with TLS: HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", requires = "listen_plain", value_parser = place)]
    connect: Option<String>,
    #[command(flatten)]
    node: Node,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    bounds: Bounds,
    /// Tell on this address of loopback what was counted, as Prometheus reads it: http://ADDRESS/metrics.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Print one JSON object a connection in place of lines for people.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Clone)]
struct Bounds {
    /// Connections at the same time; further ones are closed at once.
    #[arg(long, value_name = "COUNT", default_value_t = 1024)]
    connections: usize,
    /// Seconds after which a connection on which nothing moves is cut.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    idle: u64,
    /// Seconds to reach the other end in.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    dial: u64,
    /// Seconds that connections may go on after Ctrl-C or SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
}

impl Proxy {
    /// Carries until it is told to stop.
    pub async fn run(self) -> End {
        crate::log::start();
        if self.bounds.connections == 0 || self.bounds.idle == 0 {
            return Err(Failure::environment(
                "with --connections 0 or --idle 0 nothing is carried",
            ));
        }
        let standing = self.node.stand().await?;
        let way = self.way(&standing).await?;
        let address = self.listen.or(self.listen_plain).ok_or_else(unsaid)?;
        let figures = Arc::new(Figures::default());
        if let Some(metrics) = self.metrics {
            figures::tell(metrics, Arc::clone(&figures)).await?;
        }
        let hangup = signal(SignalKind::hangup())?;
        let listener = bind(address).await?;
        let app = Arc::clone(&standing.app);
        let shared = Shared::new(way, (self.bounds.clone(), self.json), (app, figures));
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

    /// What is carried where, by the identity and the policy as their files are now.
    async fn way(&self, standing: &Standing) -> Result<Way, Failure> {
        let own = self.node.own(standing).await?;
        let gather = Arc::clone(&standing.gather);
        let settings = settings(&standing.app, gather);
        match (&self.to, &self.connect) {
            (Some(to), None) => {
                let config = self.policy.server(own, true)?;
                Ok(Way::Inward(Acceptor::new(config, settings), to.clone()))
            }
            (None, Some(to)) => {
                let config = self.policy.client(own)?;
                Ok(Way::Outward(Connector::new(config, settings), to.clone()))
            }
            _ => Err(unsaid()),
        }
    }
}

fn unsaid() -> Failure {
    Failure::environment("it is not said what is carried where")
        .hint("--listen with --to, or --listen-plain with --connect")
}

/// A proxy at work.
struct Running {
    shared: Arc<Shared>,
    again: Arc<Again>,
}

/// What it takes to begin anew without stopping.
struct Again {
    proxy: Proxy,
    standing: Standing,
    one_at_a_time: Mutex<()>,
}

impl Running {
    async fn serve(self, listener: TcpListener, mut hangup: Signal) {
        let room = Arc::new(Semaphore::new(self.shared.bounds.connections));
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
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                tracing::warn!(%from, "no room for another connection");
                self.shared.figures.turned_away();
                continue;
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
            output::complain(&format!("{} connections were cut at the end", open.len()));
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

    /// Reads the identity and the policy's files again, beside what is carried. If that fails all stays as it is.
    fn reload(&self) {
        let (shared, again) = (Arc::clone(&self.shared), Arc::clone(&self.again));
        tokio::spawn(async move {
            let _one_at_a_time = again.one_at_a_time.lock().await;
            let way = again.proxy.way(&again.standing).await;
            shared.figures.reloaded(way.is_ok());
            if let Some(way) = reloaded(way) {
                shared.goes(way);
            }
        });
    }
}
