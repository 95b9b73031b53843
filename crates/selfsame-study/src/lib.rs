//! Owns: the papers' numbers, their comparison with what the load tests measured on this machine, the report of it as
//! HTML, JSON and CSV, and a load test of our own beside the papers'. Does not own: the load tests of the papers'
//! experiments (`selfsame bench`, run as processes by the command), the terminal.

mod csv;
mod draw;
mod judge;
mod life;
mod number;
mod paper;
mod part;
mod run;
mod study;

pub use draw::write_report;
pub use judge::{ComparisonStanding, PaperComparison};
pub use life::{LifePlan, NAME as LIFE, run as measure_life};
pub use part::BenchPart;
pub use run::{
    PartOrder, PartRecord, StartedPart, StudyFolder, StudyPlan, Tool, chosen, commit_around, order,
    tools,
};
pub use study::{Study, StudyHead, StudyPart};

/// The load tests of a study, in their order.
pub const PARTS: [&str; 7] = [
    "oid4vc", "aries", "wallet", "signin", "tls", "registry", LIFE,
];

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file of this crate is malformed.
    #[error("the numbers of the paper `{name}`: {why}")]
    Paper {
        /// The paper.
        name: String,
        /// The reason.
        why: String,
    },
    /// A file is not what a load test writes.
    #[error("this is not what a load test writes: {0}")]
    Part(String),
    /// A file could not be read or written, or a program not be started.
    #[error("{what}: {why}")]
    Machine {
        /// The file or program.
        what: String,
        /// The reason.
        why: std::io::Error,
    },
}
