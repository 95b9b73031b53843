//! The watchdog of systemd: it is answered while the event loops turn, on a thread of its own.

use selfsame_server::Pulse;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::systemd::ServiceManager;

/// Answers the watchdog, if the service has one. Counts the seconds of the pulse if nothing else does.
///
/// # Errors
/// If no thread can be started.
pub fn start(pulse: Pulse, counts: bool) -> Result<(), Failure> {
    let manager = ServiceManager::of_environment();
    let Some(pause) = manager.watchdog() else {
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let answers = async move {
        let answering = async {
            let mut every = tokio::time::interval(pause);
            loop {
                every.tick().await;
                match pulse.standstill() {
                    None => manager.is_well(),
                    Some(seconds) => tracing::error!(
                        seconds,
                        "an event loop is stuck; the watchdog of systemd gets no answer"
                    ),
                }
            }
        };
        match counts {
            true => tokio::join!(pulse.count(), answering).1,
            false => answering.await,
        }
    };
    std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(move || runtime.block_on(answers))?;
    Ok(())
}
