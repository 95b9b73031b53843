//! Networks of validators end to end: the real binary with the real engine, only through HTTP and the command line.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of a process measure real time, read where the engine is, and open their own connections"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

#[path = "../e2e/rig.rs"]
mod rig;

#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;

mod carry;
mod dark;
mod evidence;
mod joins;
mod nodes;
mod pages;
mod processes;
mod up;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One network at a time: each has eight processes.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
