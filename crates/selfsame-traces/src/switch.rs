//! Whether tracing is on: the one branch of a span while it is off.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_ON: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

pub(crate) fn turn_on() {
    IS_ON.store(true, Ordering::Release);
}
