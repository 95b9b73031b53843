//! What stops a command: signals, and the end of its terminal.

use std::future::Future;
use std::io::{IsTerminal as _, Read as _};

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

/// Completes on Ctrl-C or SIGTERM, or when the terminal is closed.
pub async fn until_told_to_go() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
                () = until_the_terminal_is_gone() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

/// Completes as [`until_told_to_go`] does, or with the leash.
pub async fn until_told_or(leash: impl Future<Output = ()>) {
    tokio::select! {
        () = until_told_to_go() => {}
        () = leash => {}
    }
}

/// Completes when the standard input ends. Reads on a separate thread: the runtime would wait for a read of its own before
/// it could end.
///
/// # Errors
/// If no thread can be started.
pub fn until_the_input_ends() -> Result<impl Future<Output = ()>, Failure> {
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::Builder::new()
        .name("leash".to_owned())
        .spawn(move || {
            let mut nothing = [0; 64];
            let mut input = std::io::stdin().lock();
            while input.read(&mut nothing).is_ok_and(|read| read > 0) {}
            drop(end);
        })?;
    Ok(async {
        // Nothing is sent: an error here means that the thread has ended.
        let _ = ended.await;
    })
}

/// SIGHUP makes a service read files again; a closed terminal sends it too, and then the service must stop.
async fn until_the_terminal_is_gone() {
    let is_there = || std::io::stdin().is_terminal();
    match signal(SignalKind::hangup()) {
        Ok(mut hangup) if is_there() => {
            while is_there() {
                hangup.recv().await;
            }
        }
        _ => std::future::pending().await,
    }
}
