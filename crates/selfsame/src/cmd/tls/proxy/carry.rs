//! One connection through a proxy: the handshake, the other end, the bytes, and the report.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use selfsame_app::App;
use selfsame_tls::identity::Peer;
use selfsame_tls::{ClientConfig, ServerConfig};
use selfsame_tls_io::{
    Acceptor, Carried, Connector, Error, Gather, Lapse, Watch, name_of, relay_until,
};
use serde::Serialize;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::super::advice;
use super::super::figures::Figures;
use super::super::tell::Report;
use super::Bounds;
use super::header::header;
use crate::output;

/// The direction of a proxy.
pub enum Way {
    /// TLS in, plain out to the service; the last field says whether the service gets a header about the client.
    Inward(Acceptor<dyn Gather>, String, bool),
    /// Plain in, TLS out.
    Outward(Connector<dyn Gather>, String),
}

/// The TLS configuration: what is presented, and which peers are admitted.
pub enum Terms {
    /// For TLS in.
    Server(Arc<ServerConfig>),
    /// For TLS out.
    Client(Arc<ClientConfig>),
}

/// What all connections share.
pub struct Shared {
    pub way: Way,
    pub watch: Watch,
    pub bounds: Bounds,
    pub figures: Arc<Figures>,
    pub app: Arc<App>,
    pub json: bool,
}

/// The report on a connection.
#[derive(Serialize)]
pub struct Told {
    #[serde(flatten)]
    report: Report,
    from: String,
    up: u64,
    down: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

/// Connects to the other end; an error names it.
async fn reach(to: &str, within: Duration) -> io::Result<TcpStream> {
    let dialled = selfsame_net::dial(to, within).await;
    dialled.map_err(|error| io::Error::new(error.kind(), format!("{to}: {error}")))
}

impl Shared {
    /// Sets the configuration for new connections, and to verify the open ones again.
    pub fn goes(&self, terms: Terms) {
        match (&self.way, terms) {
            (Way::Inward(acceptor, ..), Terms::Server(config)) => acceptor.reconfigure(config),
            (Way::Outward(connector, _), Terms::Client(config)) => connector.reconfigure(config),
            // A proxy never changes its direction.
            (Way::Inward(..), Terms::Client(_)) | (Way::Outward(..), Terms::Server(_)) => {}
        }
    }

    /// Relays a connection to its end.
    pub async fn carry(&self, stream: TcpStream, from: SocketAddr) -> Told {
        let _best_effort = stream.set_nodelay(true);
        match self.connected(stream, from).await {
            Ok((report, carried, ended)) => {
                if let Err(error) = &ended {
                    tracing::debug!(%from, %error, "a connection was cut off");
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
                self.figures.refused(&error);
                Told {
                    report: Report::refused(&error, self.end()),
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
        from: SocketAddr,
    ) -> Result<(Report, Carried, io::Result<()>), Error> {
        let dial = Duration::from_secs(self.bounds.dial);
        let (mut secure, mut plain, is_inward) = match &self.way {
            // The service is called only for an admitted client.
            Way::Inward(acceptor, to, tells) => {
                let secure = acceptor.accept_from(stream, from.ip()).await?;
                let mut plain = reach(to, dial).await?;
                if *tells {
                    let here = secure.get_ref().local_addr()?;
                    let protocol = secure.connection().protocol();
                    plain
                        .write_all(&header(&secure.peer().kind, from, here, protocol)?)
                        .await?;
                }
                (secure, plain, true)
            }
            Way::Outward(connector, to) => {
                let far = reach(to, dial).await?;
                (connector.connect(far).await?, stream, false)
            }
        };
        let report = Report::of(secure.peer(), self.app.clock().now());
        let is_resumed = report.resumed.is_some();
        self.figures.accepted(&secure.peer().kind, is_resumed);
        let idle = Duration::from_secs(self.bounds.idle);
        let peer = Arc::clone(secure.peer());
        let end = self.lapse(&peer, from);
        let (carried, ended) = match is_inward {
            true => relay_until(&mut secure, &mut plain, idle, end).await,
            false => relay_until(&mut plain, &mut secure, idle, end).await,
        };
        self.figures.ended(carried, &ended);
        if let Err(error) = &ended {
            if let Some(lapse) = error.get_ref().and_then(|why| why.downcast_ref::<Lapse>()) {
                secure.end(*lapse).await;
            }
            // A regular close would look like a complete transfer.
            let _best_effort = plain.set_zero_linger();
        }
        Ok((report, carried, ended))
    }

    fn end(&self) -> advice::End {
        match self.way {
            Way::Inward(..) => advice::End::Server,
            Way::Outward(..) => advice::End::Client,
        }
    }

    /// Completes when the connection must end, whatever its two ends want.
    async fn lapse(&self, peer: &Peer, from: SocketAddr) -> io::Error {
        let lapse = match &self.way {
            Way::Inward(acceptor, ..) => acceptor.lapse(peer, self.watch).await,
            Way::Outward(connector, _) => connector.lapse(peer, self.watch).await,
        };
        let peer = name_of(&peer.kind);
        tracing::info!(%from, peer, %lapse, "an open connection was ended");
        self.figures.lapsed(&lapse);
        io::Error::new(io::ErrorKind::ConnectionAborted, lapse)
    }

    /// Prints the report.
    pub fn tell(&self, told: &Told) {
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
