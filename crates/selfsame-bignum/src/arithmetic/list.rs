//! Lists of steps: products, and the copies and look-ups between them.

use zeroize::Zeroize;

use super::lane::{Lane, PICKS};

/// A location for one residue in a machine.
pub(super) type Slot = usize;

/// One step. The sequence of steps and their slots never depends on a secret; only the picks of a scan do.
#[derive(Clone, Copy)]
pub(super) enum Op<'a> {
    /// Copies the second slot to the first.
    Copy(Slot, Slot),
    /// Sets the slot to this residue.
    Load(Slot, &'a [Lane]),
    /// Squares the slot.
    Square(Slot),
    /// Multiplies the first slot by the second.
    Multiply(Slot, Slot),
    /// Multiplies the slot by this residue.
    MultiplyBy(Slot, &'a [Lane]),
    /// Copies the picked rows of `table` to the slots from `to` on; reads every row.
    Scan {
        table: Table<'a>,
        picks: [u8; PICKS],
        to: Slot,
    },
}

/// Rows to scan.
#[derive(Clone, Copy)]
pub(super) enum Table<'a> {
    /// The rows of a prepared table.
    Rows(&'a [Lane]),
    /// A number of slots, beginning with this one.
    Slots(Slot, usize),
}

/// Steps in their order.
#[derive(Default)]
pub(super) struct List<'a> {
    pub(super) ops: Vec<Op<'a>>,
    /// Whether successive products may run at once if their slots differ. The factor of such a product must stay valid
    /// up to the next product.
    pub(super) parallel: bool,
}

impl List<'_> {
    /// Clears the picks.
    pub(super) fn wipe(&mut self) {
        for op in &mut self.ops {
            if let Op::Scan { picks, .. } = op {
                picks.zeroize();
            }
        }
    }
}
