//! Work that leaves nothing behind when it is interrupted.

use std::future::Future;

use tokio::signal::unix::{SignalKind, signal};

use crate::exit::{End, Failure};

/// Runs the work. On Ctrl-C or SIGTERM the work is dropped, with its temporary directory and the processes in it.
pub async fn or_interrupted(work: impl Future<Output = End>) -> End {
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    tokio::select! {
        end = work => end,
        _ = interrupt.recv() => Err(Failure::stopped("SIGINT", 2)),
        _ = terminate.recv() => Err(Failure::stopped("SIGTERM", 15)),
    }
}
