//! The task that serves an instance: how it is stopped, and the failure if it ends by itself.

use std::future::Future;
use std::io;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use crate::exit::Failure;

/// A running server.
pub struct Serving {
    stop: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
}

impl Serving {
    /// Starts the task that `serve` returns; its argument completes when the server must stop.
    pub fn start<Served>(serve: impl FnOnce(oneshot::Receiver<()>) -> Served) -> Self
    where
        Served: Future<Output = io::Result<()>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(stopped));
        Self { stop, task }
    }

    /// Serves until `told` completes, then lets open requests finish.
    ///
    /// # Errors
    /// If serving ended by itself, or failed.
    pub async fn until(self, told: impl Future<Output = ()>) -> Result<(), Failure> {
        let Self { stop, mut task } = self;
        tokio::select! {
            () = told => {}
            ended = &mut task => {
                well(ended)?;
                return Err(Failure::ours("the server stopped unexpectedly"));
            }
        }
        // An error here means that it has just ended by itself.
        let _ = stop.send(());
        well(task.await)
    }
}

fn well(ended: Result<io::Result<()>, JoinError>) -> Result<(), Failure> {
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Failure::environment(format!("the server stopped: {error}"))),
        Err(broken) => Err(Failure::ours(format!("the server crashed: {broken}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn a_server_that_is_told_to_end_ends_well() {
        let serving = Serving::start(async |stopped| {
            let _ = stopped.await;
            Ok(())
        });
        assert!(serving.until(ready(())).await.is_ok());
    }

    #[tokio::test]
    async fn a_server_that_ends_by_itself_is_a_failure_that_says_why() {
        let full = Serving::start(async |_stopped| Err(io::Error::other("no threads")));
        let failure = full.until(pending()).await.unwrap_err();
        assert!(failure.message().contains("no threads"), "{failure:?}");
        let left = Serving::start(async |_stopped| Ok(()));
        assert!(left.until(pending()).await.is_err());
    }
}
