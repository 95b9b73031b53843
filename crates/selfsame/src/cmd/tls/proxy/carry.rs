//! One connection through a proxy: the handshake, the other end, the bytes, and what is told of it.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use selfsame_app::App;
use selfsame_tls_io::{Acceptor, Carried, Connector, Error, Gather, relay};
use serde::Serialize;
use tokio::net::TcpStream;

use super::super::figures::Figures;
use super::super::tell::Report;
use super::Bounds;
use crate::output;

/// One direction of service.
#[derive(Clone)]
pub enum Way {
    /// TLS comes in, plain goes out to the service.
    Inward(Acceptor<dyn Gather>, String),
    /// Plain comes in, TLS goes out.
    Outward(Connector<dyn Gather>, String),
}

/// All that a connection needs.
pub struct Shared {
    way: RwLock<Way>,
    pub bounds: Bounds,
    pub figures: Arc<Figures>,
    app: Arc<App>,
    json: bool,
}

/// What is told of a connection.
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

/// Dials the other end; an error names it.
async fn reach(to: &str, within: Duration) -> io::Result<TcpStream> {
    let dialled = selfsame_net::dial(to, within).await;
    dialled.map_err(|error| io::Error::new(error.kind(), format!("{to}: {error}")))
}

impl Shared {
    /// A proxy that goes this way.
    pub fn new(
        way: Way,
        (bounds, json): (Bounds, bool),
        (app, figures): (Arc<App>, Arc<Figures>),
    ) -> Self {
        Self {
            way: RwLock::new(way),
            bounds,
            figures,
            app,
            json,
        }
    }

    /// Further connections go this way.
    pub fn goes(&self, way: Way) {
        *self.way.write().unwrap_or_else(PoisonError::into_inner) = way;
    }

    /// Carries a connection to its end.
    pub async fn carry(&self, stream: TcpStream, from: SocketAddr) -> Told {
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
                self.figures.refused(&error);
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
        let way = self
            .way
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (mut secure, mut plain, is_inward) = match &way {
            // The service hears of nobody who was not let in.
            Way::Inward(acceptor, to) => {
                let secure = acceptor.accept(stream).await?;
                (secure, reach(to, dial).await?, true)
            }
            Way::Outward(connector, to) => {
                let far = reach(to, dial).await?;
                (connector.connect(far).await?, stream, false)
            }
        };
        let report = Report::of(secure.peer(), self.app.clock().now());
        self.figures.accepted(report.resumed.is_some());
        let idle = Duration::from_secs(self.bounds.idle);
        let (carried, ended) = match is_inward {
            true => relay(&mut secure, &mut plain, idle).await,
            false => relay(&mut plain, &mut secure, idle).await,
        };
        self.figures.ended(carried, &ended);
        if ended.is_err() {
            // A plain end would pass for a proper one.
            let _best_effort = plain.set_zero_linger();
        }
        Ok((report, carried, ended))
    }

    /// Prints what came of it.
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
