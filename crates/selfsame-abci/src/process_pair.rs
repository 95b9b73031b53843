//! Both halves of a node, our application and the engine, started and stopped together.

use std::path::PathBuf;
use std::time::Duration;

use selfsame_catalogue::english;
use selfsame_driver::Result;
use tokio::sync::watch;

use crate::application::{Application, ApplicationParts};
use crate::engine::Engine;
use crate::files::Home;
use crate::service::Socket;
use crate::supervisor::EngineProcess;

/// The first and the maximum pause before both are started again.
const REST: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// A pair that ran this long was healthy and is restarted at once.
const HEALTHY: Duration = Duration::from_secs(60);
/// How often the list of admitted nodes is read.
const LOOKED_AGAIN: Duration = Duration::from_secs(1);
/// A pair that ran this long has recovered from its last failure.
const STEADY: Duration = Duration::from_secs(3);

/// The parts from which both halves are started.
pub(crate) struct ProcessParts {
    pub(crate) home: Home,
    pub(crate) engine: Engine,
    pub(crate) socket: PathBuf,
    pub(crate) parts: ApplicationParts,
    /// Why the halves are not running, for the operator.
    pub(crate) trouble: watch::Sender<Option<String>>,
}

impl ProcessParts {
    /// Starts our half alone and listens at its socket.
    pub(crate) fn listen(&self) -> Result<Socket> {
        Socket::listen(&self.socket, Application::new(self.parts.clone())?)
    }

    /// Runs both halves until they are told to stop.
    pub(crate) async fn run(self, socket: Socket, mut stop: watch::Receiver<bool>) {
        let mut rest = REST.0;
        let mut listening: Result<Socket> = Ok(socket);
        loop {
            let began = tokio::time::Instant::now();
            let ended = match listening {
                Ok(socket) => self.once(socket, &mut stop).await,
                Err(error) => Ended::Broken(english(&error.reason)),
            };
            let reason = match ended {
                Ended::Asked => return,
                Ended::Dismissed => {
                    tracing::info!(
                        "a node is no longer admitted: the engine restarts, which ends the connection"
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

    /// Runs both halves until one ends, then ends the other.
    async fn once(&self, mut socket: Socket, stop: &mut watch::Receiver<bool>) -> Ended {
        let mut engine = match EngineProcess::start(&self.engine, &self.home.engine(), &self.socket)
        {
            Ok(engine) => engine,
            Err(error) => {
                socket.stop().await;
                return Ended::Broken(english(&error.reason));
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
                // The engine's process may still be alive.
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

    /// Returns when a node that was admitted at the start is no longer admitted.
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

/// Why the halves ended.
enum Ended {
    /// They were told to stop.
    Asked,
    /// A node to which the engine may be connected is no longer admitted. The engine asks only when a connection
    /// begins.
    Dismissed,
    /// One of them could not continue.
    Broken(String),
}

/// Returns when both halves must stop, or the sender of that request is gone.
async fn asked_to(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
