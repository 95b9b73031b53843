//! The log: one JSON object a line on standard error, as `SELFSAME_LOG` says: warnings, and each refusal with its
//! reason, unless told.

use tracing_subscriber::EnvFilter;

const VARIABLE: &str = "SELFSAME_LOG";

/// The second names the request that a refusal answers, by its number and route.
const DEFAULT: &str = "warn,selfsame_server::error=info,selfsame_server::middleware::observe=info";

/// Starts it.
pub fn start() {
    let filter = match std::env::var_os(VARIABLE).map(|_| EnvFilter::try_from_env(VARIABLE)) {
        Some(Ok(filter)) => filter,
        None => EnvFilter::new(DEFAULT),
        Some(Err(error)) => {
            // Still served: how much is logged is no reason to be down after a restart.
            crate::output::complain(&format!(
                "selfsame: {VARIABLE} is not understood, so warnings and refusals are logged: {error}"
            ));
            EnvFilter::new(DEFAULT)
        }
    };
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
