//! `selfsame tls proxy`: puts TLS in front of any TCP service, or dials out with TLS for any TCP client.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use selfsame_app::App;
use selfsame_tls_io::{Acceptor, Carried, Connector, Error, Gather, relay};
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::client::settings;
use super::policy::Policy;
use super::server::bind;
use super::tell::Report;
use super::world::{Node, Standing};
use crate::cmd::up::until_told_to_go;
use crate::exit::{Answer, End, Failure};
use crate::output;

/// A breath after an accept that failed, so that a want of resources does not turn in circles.
const BREATH: Duration = Duration::from_millis(50);

/// Put TLS in front of any TCP service, or dial out with TLS for any TCP client.
///
/// One line is printed for each connection: who it was, or why it was refused, and how much was carried; never what.
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
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    to: Option<String>,
    /// Where plain connections are listened for; keep it on loopback, for whoever reaches it speaks as this node.
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "connect",
        required_unless_present = "listen"
    )]
    listen_plain: Option<SocketAddr>,
    /// Where to dial out to with TLS: HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", requires = "listen_plain")]
    connect: Option<String>,
    #[command(flatten)]
    node: Node,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    bounds: Bounds,
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

/// One direction of service.
enum Way {
    /// TLS comes in, plain goes out to the service.
    Inward(Acceptor<dyn Gather>, String),
    /// Plain comes in, TLS goes out.
    Outward(Connector<dyn Gather>, String),
}

/// All that a connection needs.
struct Shared {
    way: Way,
    bounds: Bounds,
    app: Arc<App>,
    json: bool,
}

/// What is told of a connection.
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
    /// Carries until it is told to stop.
    pub async fn run(self) -> End {
        crate::log::start();
        if self.bounds.connections == 0 || self.bounds.idle == 0 {
            return Err(Failure::environment(
                "with --connections 0 or --idle 0 nothing is carried",
            ));
        }
        let Standing { app, gather, own } = self.node.stand().await?;
        let settings = settings(&app, gather);
        let (address, way) = match (self.listen, self.to, self.listen_plain, self.connect) {
            (Some(listen), Some(to), ..) => {
                let config = self.policy.server(own, true)?;
                (listen, Way::Inward(Acceptor::new(config, settings), to))
            }
            (_, _, Some(listen), Some(to)) => {
                let config = self.policy.client(own)?;
                (listen, Way::Outward(Connector::new(config, settings), to))
            }
            _ => {
                return Err(Failure::environment("it is not said what is carried where")
                    .hint("--listen with --to, or --listen-plain with --connect"));
            }
        };
        let listener = bind(address).await?;
        let shared = Shared {
            way,
            bounds: self.bounds,
            app,
            json: self.json,
        };
        serve(listener, Arc::new(shared)).await;
        Ok(Answer::Yes)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(shared.bounds.connections));
    let mut open = JoinSet::new();
    let stop = until_told_to_go();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = open.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            tracing::warn!(%from, "no room for another connection");
            continue;
        };
        let shared = Arc::clone(&shared);
        open.spawn(async move {
            let told = shared.carry(stream, from).await;
            shared.tell(&told);
            drop(place);
        });
    }
    drop(listener);
    let grace = Duration::from_secs(shared.bounds.grace);
    let ended = tokio::time::timeout(grace, async { while open.join_next().await.is_some() {} });
    if ended.await.is_err() {
        output::complain(&format!("{} connections were cut at the end", open.len()));
    }
}

impl Shared {
    async fn carry(&self, stream: TcpStream, from: SocketAddr) -> Told {
        let _best_effort = stream.set_nodelay(true);
        match self.connected(stream).await {
            Ok((report, carried, ended)) => {
                if let Err(error) = &ended {
                    tracing::debug!(%from, %error, "a connection was cut");
                }
                Told {
                    report,
                    from: from.to_string(),
                    up: carried.up,
                    down: carried.down,
                    cut: ended.err().map(|error| error.to_string()),
                }
            }
            Err(error) => {
                tracing::info!(%from, %error, "a connection was refused");
                Told {
                    report: Report::refused(&error),
                    from: from.to_string(),
                    up: 0,
                    down: 0,
                    cut: None,
                }
            }
        }
    }

    async fn connected(
        &self,
        stream: TcpStream,
    ) -> Result<(Report, Carried, io::Result<()>), Error> {
        let dial = Duration::from_secs(self.bounds.dial);
        let (mut secure, mut plain, is_inward) = match &self.way {
            // The service hears of nobody who was not let in.
            Way::Inward(acceptor, to) => {
                let secure = acceptor.accept(stream).await?;
                (secure, selfsame_net::dial(to, dial).await?, true)
            }
            Way::Outward(connector, to) => {
                let far = selfsame_net::dial(to, dial).await?;
                (connector.connect(far).await?, stream, false)
            }
        };
        let report = Report::of(secure.peer(), self.app.clock().now());
        let idle = Duration::from_secs(self.bounds.idle);
        let (carried, ended) = match is_inward {
            true => relay(&mut secure, &mut plain, idle).await,
            false => relay(&mut plain, &mut secure, idle).await,
        };
        if ended.is_err() {
            // A plain end would pass for a proper one.
            let _best_effort = plain.set_zero_linger();
        }
        Ok((report, carried, ended))
    }

    fn tell(&self, told: &Told) {
        output::either(self.json, told, |told| {
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
