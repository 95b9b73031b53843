//! The log: one JSON object a line on standard error, at the level of `SELFSAME_LOG` (`warn` unless told).

use tracing_subscriber::EnvFilter;

/// Starts it.
pub fn start() {
    let filter = EnvFilter::builder()
        .with_default_directive(tracing::Level::WARN.into())
        .with_env_var("SELFSAME_LOG")
        .from_env_lossy();
    let started = tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
    if started.is_err() {
        crate::output::complain("selfsame: a log is running already");
    }
}
