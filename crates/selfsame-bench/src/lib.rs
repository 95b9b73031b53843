//! Owns: the load tests and comparisons behind `selfsame bench`, through public interfaces only, and their reports.
//! Does not own: the server it measures (a separate process), the terminal, the project's own records.

pub mod chart;
pub mod client;
pub mod fake_server;
pub mod flow;
pub mod machine;
pub mod manners;
pub mod oid4vc;
pub mod organisations;
pub mod port;
pub mod process;
pub mod registry;
pub mod relay;
pub mod report;
pub mod statistics;
pub mod tasks;
pub mod tls;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server could not be started, or stopped unexpectedly.
    #[error("the measured server: {0}")]
    Server(String),
    /// A call failed that must succeed.
    #[error("{what}: {why}")]
    Call {
        /// The call.
        what: String,
        /// The reason for the failure.
        why: String,
    },
    /// The machine refuses an operation, for example on a port or a file.
    #[error("{0}")]
    Machine(#[from] std::io::Error),
}

/// Receives the progress of a measurement.
pub trait Progress: Send + Sync {
    /// A part begins; it has this many steps.
    fn begin(&self, part: &str, steps: u64);
    /// This many more steps are done.
    fn advance(&self, steps: u64);
}

/// Ignores progress.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _part: &str, _steps: u64) {}
    fn advance(&self, _steps: u64) {}
}
