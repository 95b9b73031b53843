//! The log: one JSON object a line on standard error, or a line for people, as `SELFSAME_LOG` says: warnings, each
//! refusal with its reason, what the operator does, and each credential that is issued, unless told.

use std::env::VarError;
use std::error::Error as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::FromEnvError;

const VARIABLE: &str = "SELFSAME_LOG";

/// The second names the request that a refusal answers, by its number and route.
const DEFAULT: &str = "warn,selfsame_server::error=info,selfsame_server::middleware::observe=info,selfsame_server::middleware::actions=info,selfsame_app::issuer::protocol=info";

/// Starts it.
pub fn start() {
    let log = tracing_subscriber::fmt().json().with_span_list(false);
    started(
        log.with_env_filter(filter())
            .with_writer(std::io::stderr)
            .try_init(),
    );
}

/// Starts it for a person who looks on, in lines of text.
pub fn start_for_people() {
    let log = tracing_subscriber::fmt()
        .compact()
        .with_ansi(false)
        .without_time();
    started(
        log.with_env_filter(filter())
            .with_writer(std::io::stderr)
            .try_init(),
    );
}

fn filter() -> EnvFilter {
    match EnvFilter::try_from_env(VARIABLE) {
        Ok(filter) => filter,
        Err(error) if is_absent(&error) => EnvFilter::new(DEFAULT),
        Err(error) => {
            // Still served: how much is logged is no reason to be down after a restart.
            crate::output::complain(&format!(
                "selfsame: {VARIABLE} is not understood, so warnings and refusals are logged: {error}"
            ));
            EnvFilter::new(DEFAULT)
        }
    }
}

fn started<E>(started: Result<(), E>) {
    if started.is_err() {
        crate::output::complain("selfsame: a log is running already");
    }
}

fn is_absent(error: &FromEnvError) -> bool {
    let variable = error.source().and_then(|source| source.downcast_ref());
    matches!(variable, Some(VarError::NotPresent))
}
