//! The steps of a request that depend on who sends it.

pub mod abroad;
