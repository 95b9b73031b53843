//! The watchdog of systemd: it is answered while the event loops turn, on a thread of its own.

use crate::exit::Failure;
use crate::systemd::ServiceManager;

/// Answers the watchdog, if the service has one. `standstill` says for how many seconds an event loop has been stuck;
/// `counting` runs beside it.
///
/// # Errors
/// If no thread can be started.
pub fn start(
    standstill: impl Fn() -> Option<u64> + Send + 'static,
    counting: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Failure> {
    let manager = ServiceManager::of_environment();
    let Some(pause) = manager.watchdog() else {
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let answering = async move {
        let mut every = tokio::time::interval(pause);
        loop {
            every.tick().await;
            match standstill() {
                None => manager.is_well(),
                Some(seconds) => tracing::error!(
                    seconds,
                    "an event loop is stuck; the watchdog of systemd gets no answer"
                ),
            }
        }
    };
    let both = async move { tokio::join!(counting, answering).1 };
    std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(move || runtime.block_on(both))?;
    Ok(())
}
