//! Networks of validators with the real engine, on loopback.

mod cluster;
mod four;
mod one;

/// Networks take turns: each wants the whole machine.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
