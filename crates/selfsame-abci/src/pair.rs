//! Both halves of a node, started and stopped together.

use std::path::PathBuf;
use std::time::Duration;

use selfsame_app::Result;
use tokio::sync::watch;

use crate::application::{Application, Parts};
use crate::engine::Engine;
use crate::files::Home;
use crate::service::Socket;
use crate::supervisor::Process;

/// How long both rest before they are started again, at first and at most.
const REST: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// A pair that ran this long was healthy: it is started again at once.
const HEALTHY: Duration = Duration::from_secs(60);
/// So often is looked who is admitted.
const LOOKED_AGAIN: Duration = Duration::from_secs(1);
/// A pair that ran this long has got over what it ended with.
const STEADY: Duration = Duration::from_secs(3);

/// What both are started from.
pub(crate) struct Pair {
    pub(crate) home: Home,
    pub(crate) engine: Engine,
    pub(crate) socket: PathBuf,
    pub(crate) parts: Parts,
    /// Where the operator is told why they do not run.
    pub(crate) trouble: watch::Sender<Option<String>>,
}

impl Pair {
    /// Our half alone, at its socket.
    pub(crate) fn listen(&self) -> Result<Socket> {
        Socket::listen(&self.socket, Application::new(self.parts.clone())?)
    }

    /// Runs both until they are asked to stop.
    pub(crate) async fn run(self, socket: Socket, mut stop: watch::Receiver<bool>) {
        let mut rest = REST.0;
        let mut listening: Result<Socket> = Ok(socket);
        loop {
            let began = tokio::time::Instant::now();
            let ended = match listening {
                Ok(socket) => self.once(socket, &mut stop).await,
                Err(error) => Ended::Broken(error.reason),
            };
            let reason = match ended {
                Ended::Asked => return,
                Ended::Dismissed => {
                    tracing::info!(
                        "a node is admitted no longer: the engine is started again, which parts them"
                    );
                    listening = self.listen();
                    continue;
                }
                Ended::Broken(reason) => reason,
            };
            tracing::error!(%reason, "both halves of the node stopped and are started again");
            self.trouble.send_replace(Some(reason));
            if began.elapsed() > HEALTHY {
                rest = REST.0;
            }
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = asked_to(&mut stop) => return,
            }
            rest = rest.saturating_mul(2).min(REST.1);
            listening = self.listen();
        }
    }

    /// Runs both until one ends, then ends the other.
    async fn once(&self, mut socket: Socket, stop: &mut watch::Receiver<bool>) -> Ended {
        let mut engine = match Process::start(&self.engine, &self.home.engine(), &self.socket) {
            Ok(engine) => engine,
            Err(error) => {
                socket.stop().await;
                return Ended::Broken(error.reason);
            }
        };
        let steady = async {
            tokio::time::sleep(STEADY).await;
            self.trouble.send_replace(None);
            std::future::pending().await
        };
        let ended = tokio::select! {
            ended = steady => ended,
            halt = socket.halted() => {
                engine.kill().await;
                Ended::Broken(halt.0)
            }
            ended = engine.ended() => {
                // Its process may live on.
                engine.kill().await;
                Ended::Broken(ended)
            }
            () = self.dismissed() => {
                engine.stop().await;
                Ended::Dismissed
            }
            () = asked_to(stop) => {
                engine.stop().await;
                Ended::Asked
            }
        };
        socket.stop().await;
        ended
    }

    /// Until one that was admitted at the start is so no longer.
    async fn dismissed(&self) {
        let begun = self.parts.peers.admitted();
        loop {
            tokio::time::sleep(LOOKED_AGAIN).await;
            let (Some(begun), Some(now)) = (&begun, self.parts.peers.admitted()) else {
                continue;
            };
            if !begun.is_subset(&now) {
                return;
            }
        }
    }
}

/// Why both halves ended.
enum Ended {
    /// They were asked to.
    Asked,
    /// A node that the engine may be connected with is admitted no longer; the engine asks only when a connection begins.
    Dismissed,
    /// One of them could not go on.
    Broken(String),
}

/// Until both halves are to stop, or nobody is left who could say so.
async fn asked_to(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
