//! What is touched, in order: for the tests that secrets leave no trace.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{engine::Lane, program::Op};

/// One touch: what kind it is, and the places it concerns. Slots are numbered, rows of tables have their addresses.
pub(super) type Touch = (&'static str, usize, usize);

/// How many threads are traced, so that measurements of others cost next to nothing.
static TRACED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static TRACE: RefCell<Option<Vec<Touch>>> = const { RefCell::new(None) };
}

/// Notes, while this thread is traced, that a scan reads `row` of `table`.
#[inline(always)]
pub(super) fn row(table: &[Lane], row: &[Lane]) {
    if TRACED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let start = table.as_ptr().addr();
    note(("row", row.as_ptr().addr() - start, row.len()));
}

/// Notes, while this thread is traced, that a step is done.
pub(super) fn step(op: &Op<'_>) {
    if TRACED.load(Ordering::Relaxed) == 0 {
        return;
    }
    note(match *op {
        Op::Copy(to, from) => ("copy", to, from),
        Op::Load(to, row) => ("load", to, row.as_ptr().addr()),
        Op::Square(slot) => ("square", slot, slot),
        Op::Multiply(slot, by) => ("multiply", slot, by),
        Op::MultiplyBy(slot, row) => ("multiply by", slot, row.as_ptr().addr()),
        Op::Scan { to, .. } => ("scan", to, to),
    });
}

/// Runs `work` and returns every touch of it.
pub(super) fn traced(work: impl FnOnce()) -> Vec<Touch> {
    TRACE.set(Some(Vec::new()));
    TRACED.fetch_add(1, Ordering::Relaxed);
    work();
    TRACED.fetch_sub(1, Ordering::Relaxed);
    TRACE.take().unwrap_or_default()
}

fn note(touch: Touch) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.push(touch);
        }
    });
}
