//! `selfsame tls server`: listens, prints the identity of each client, and echoes or prints what it sends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use selfsame_driver::clock::Clock;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::until_told_to_go;
use selfsame_terminal::{log, output};
use selfsame_tls::ServerConfig;
use selfsame_tls_io::{Acceptor, Gather, Room, Stream, Watch, name_of};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use crate::advice;
use crate::hooks::Hooks;
use crate::node::{Node, Standing, reloaded, settings};
use crate::peers::{PeerRules, Spoken};
use crate::tell::Report;

/// A connection that is idle for this long is closed.
const IDLE: Duration = Duration::from_secs(300);
/// Maximum number of concurrent connections; a quarter of them from one address.
const CONNECTIONS: usize = 256;
/// The pause after a failed accept, so that a lack of resources does not cause a busy loop.
const BREATH: Duration = Duration::from_millis(50);

/// Listen, print the identity of each client, and echo or print what it sends.
///
/// On SIGHUP the identity and the policy files are read again, for further connections.
/// Exit codes with --once: 0 the client was admitted, 1 it was refused, 2 wrong usage or environment.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame tls server --listen 127.0.0.1:7443 --identity node \\
             --trust-issuer did:web:issuer.example --expect-anybody --echo"
)]
pub struct Server {
    /// The address to listen on; with port 0, a free port is chosen and printed.
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    node: Node,
    #[command(flatten)]
    policy: PeerRules,
    #[command(flatten)]
    spoken: Spoken,
    /// Accept clients without authentication.
    #[arg(long)]
    anonymous_clients: bool,
    /// Send received data back instead of printing it.
    #[arg(long)]
    echo: bool,
    /// End after the first connection.
    #[arg(long)]
    once: bool,
    /// Print one JSON object a connection instead of received data; lines on standard error are JSON objects too.
    #[arg(long)]
    json: bool,
}

impl Server {
    /// Listens.
    pub async fn run(self, hooks: Hooks) -> End {
        Arc::new(self).listen(hooks).await
    }

    async fn listen(self: Arc<Self>, hooks: Hooks) -> End {
        if self.json {
            output::complain_in_json();
        }
        log::start();
        let standing = self.node.stand(hooks).await?;
        let config = self.config(&standing).await?;
        let gather = Arc::clone(&standing.gather);
        let acceptor: Acceptor = Acceptor::new(config, settings(&standing.app, gather));
        let mut hangup = signal(SignalKind::hangup())?;
        let listener = bind(self.listen).await?;
        let clock = standing.app.clock().clone();
        let reloading = async {
            loop {
                hangup.recv().await;
                if let Some(config) = reloaded(self.config(&standing).await) {
                    acceptor.reconfigure(config);
                }
            }
        };
        tokio::select! {
            answer = self.listen_on(&listener, &acceptor, &clock) => Ok(answer),
            never = reloading => never,
            () = until_told_to_go() => Ok(Answer::Yes),
        }
    }

    /// Serves clients concurrently; with `--once`, only the first.
    async fn listen_on(
        self: &Arc<Self>,
        listener: &TcpListener,
        acceptor: &Acceptor<dyn Gather>,
        clock: &Clock,
    ) -> Answer {
        let room = Room::new(CONNECTIONS, CONNECTIONS.div_ceil(4));
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = open.join_next() => continue,
            };
            let Ok((stream, from)) = accepted else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            if self.once {
                return self.serve(acceptor, stream, from, clock).await;
            }
            let place = match room.take(from.ip()) {
                Ok(place) => place,
                Err(full) => {
                    tracing::warn!(%from, "{full}");
                    continue;
                }
            };
            let (server, acceptor, clock) = (Arc::clone(self), acceptor.clone(), clock.clone());
            open.spawn(async move {
                server.serve(&acceptor, stream, from, &clock).await;
                drop(place);
            });
        }
    }

    /// The TLS configuration from the current identity and policy files.
    async fn config(&self, standing: &Standing) -> Result<Arc<ServerConfig>, Failure> {
        let mut own = self.node.own(standing).await?;
        own.spoken = self.spoken.clone();
        self.policy.server(own, !self.anonymous_clients)
    }

    async fn serve(
        &self,
        acceptor: &Acceptor<dyn Gather>,
        stream: TcpStream,
        from: SocketAddr,
        clock: &Clock,
    ) -> Answer {
        let mut stream = match acceptor.accept_from(stream, from.ip()).await {
            Ok(stream) => stream,
            Err(error) => {
                output::either(
                    self.json,
                    &Report::refused(&error, advice::End::Server),
                    Report::lines,
                );
                return Answer::No;
            }
        };
        let report = Report::of(stream.peer(), clock.now());
        output::either(self.json, &report, Report::lines);
        let peer = Arc::clone(stream.peer());
        let watch = Watch {
            every: self.node.judged_every(),
            longest: None,
        };
        let ended = tokio::select! {
            talked = tokio::time::timeout(IDLE, self.talk(&mut stream)) => Ok(talked),
            lapse = acceptor.lapse(&peer, watch) => Err(lapse),
        };
        match ended {
            Ok(Ok(Err(error))) => output::complain(&format!("selfsame: {error}")),
            Err(lapse) => {
                output::complain(&format!("selfsame: {}: {lapse}", name_of(&peer.kind)));
                stream.end(lapse).await;
            }
            Ok(_) => {}
        }
        Answer::Yes
    }

    async fn talk(&self, stream: &mut Stream<TcpStream>) -> std::io::Result<()> {
        let mut chunk = vec![0; 16 * 1024];
        loop {
            let count = stream.read(&mut chunk).await?;
            let bytes = chunk.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                return stream.shutdown().await;
            }
            if self.echo {
                stream.write_all(bytes).await?;
                stream.flush().await?;
            } else if !self.json {
                let mut out = output::relayed();
                out.write_all(bytes).await?;
                out.flush().await?;
            }
        }
    }
}

/// Listens, and reports the address.
///
/// # Errors
/// If the address is in use or not on this machine.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::environment(format!("{address}: {error}"))
            .hint("the port may be in use; otherwise choose another address with --listen")
    })?;
    output::complain(&format!("listening on {}", listener.local_addr()?));
    Ok(listener)
}
