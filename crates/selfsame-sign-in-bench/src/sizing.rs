//! The calculator of sizes: from people, their busiest hour and their way to sign in to cores, memory and storage, with
//! figures that the load test measured.

mod demand;
mod figures;
mod plan;

pub use demand::{FlowShare, SignInFlow, SizeDemand};
pub use figures::{FiguresError, SizeFigures};
pub use plan::{SizePart, SizePlan};
