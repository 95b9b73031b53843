//! The log: one JSON object a line on standard error, as `SELFSAME_LOG` says: warnings, and each refusal with its
//! reason, unless told.

use tracing_subscriber::EnvFilter;

/// The second names the request that a refusal answers, by its number and route.
const DEFAULT: &str = "warn,selfsame_server::error=info,selfsame_server::middleware::observe=info";

/// Starts it.
pub fn start() {
    let filter =
        EnvFilter::try_from_env("SELFSAME_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let started = tracing_subscriber::fmt()
        .json()
        .with_span_list(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
    if started.is_err() {
        crate::output::complain("selfsame: a log is running already");
    }
}
