//! A trace of memory accesses in order, for the tests that secrets do not affect it.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{lane::Lane, list::Op};

/// One access: its kind, and the places it concerns. Slots are identified by number, rows of tables by address.
pub(super) type Touch = (&'static str, usize, usize);

/// The number of traced threads, so that measurements on others cost next to nothing.
static TRACED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static TRACE: RefCell<Option<Vec<Touch>>> = const { RefCell::new(None) };
}

/// Records a scan's read of `row` of `table`, if this thread is traced.
#[inline(always)]
pub(super) fn row(table: &[Lane], row: &[Lane]) {
    if TRACED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let start = table.as_ptr().addr();
    note(("row", row.as_ptr().addr() - start, row.len()));
}

/// Records a step, if this thread is traced.
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

/// Runs `work` and returns all of its accesses.
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
