//! The log: one JSON object a line on standard error, or a line of text for people. `SELFSAME_LOG` sets what is logged.
//! Default: warnings, each refusal with its reason, the operator's actions, and each issued credential.

use std::env::VarError;
use std::error::Error as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::FromEnvError;

const VARIABLE: &str = "SELFSAME_LOG";

/// The second directive adds, for each refusal, the request's number and route.
const DEFAULT: &str = "warn,selfsame_http::error=info,selfsame_http::middleware::observe=info,selfsame_server::middleware::actions=info,selfsame_openid::issuer::protocol=info";

/// Starts the log in JSON.
pub fn start() {
    let log = tracing_subscriber::fmt().json().with_span_list(false);
    started(
        log.with_env_filter(filter())
            .with_writer(crate::output::logged)
            .try_init(),
    );
}

/// Starts the log in lines of text, for a person at the terminal.
pub fn start_for_people() {
    let log = tracing_subscriber::fmt()
        .compact()
        .with_ansi(false)
        .without_time();
    started(
        log.with_env_filter(filter())
            .with_writer(crate::output::logged)
            .try_init(),
    );
}

fn filter() -> EnvFilter {
    match EnvFilter::try_from_env(VARIABLE) {
        Ok(filter) => filter,
        Err(error) if is_absent(&error) => EnvFilter::new(DEFAULT),
        Err(error) => {
            // The instance starts anyway: a wrong log setting must not cause an outage after a restart.
            crate::output::complain(&format!(
                "selfsame: {VARIABLE} is invalid, so the default applies (warnings and refusals): {error}"
            ));
            EnvFilter::new(DEFAULT)
        }
    }
}

fn started<E>(started: Result<(), E>) {
    if started.is_err() {
        crate::output::complain("selfsame: the log is already started");
    }
}

fn is_absent(error: &FromEnvError) -> bool {
    let variable = error.source().and_then(|source| source.downcast_ref());
    matches!(variable, Some(VarError::NotPresent))
}
