//! Runs lists of steps: two products at a time wherever two are independent.

use zeroize::Zeroize;

use super::{
    engine::Engine,
    lane::{Factors, Lane, PICKS},
    list::{List, Op, Slot, Table},
};

/// Slots, and the lists that run on them.
pub(super) struct SlotMachine<'e> {
    engine: &'e Engine,
    slots: Vec<Lane>,
    operands: [Vec<Lane>; 2],
    secret: bool,
}

/// A pending product: its slot, and the factor (the slot itself if `None`).
type Due<'a> = (Slot, Option<Operand<'a>>);

#[derive(Clone, Copy)]
enum Operand<'a> {
    Slot(Slot),
    Row(&'a [Lane]),
}

/// The position in a list.
struct Cursor<'l, 'a> {
    rest: std::slice::Iter<'l, Op<'a>>,
    parallel: bool,
    due: Option<Due<'a>>,
}

impl<'e> SlotMachine<'e> {
    /// A machine of `slots` slots; a secret one is wiped when it is dropped.
    pub(super) fn new(engine: &'e Engine, slots: usize, secret: bool) -> Self {
        let residue = vec![Lane::default(); engine.lanes()];
        Self {
            engine,
            slots: vec![Lane::default(); slots.saturating_mul(engine.lanes())],
            operands: [residue.clone(), residue],
            secret,
        }
    }

    /// Runs lists that are independent of each other: longest first, and those that are parallel in themselves last.
    pub(super) fn run(&mut self, lists: &[List<'_>]) {
        let mut waiting: Vec<&List<'_>> = lists.iter().collect();
        waiting.sort_by_key(|list| (!list.parallel, list.ops.len()));
        let (mut first, mut second) = (self.start(&mut waiting), self.start(&mut waiting));
        loop {
            if first.is_none() {
                // Both may have ended at the same time.
                first = second.take().or_else(|| self.start(&mut waiting));
            }
            if second.is_none() {
                second = self.start(&mut waiting);
            }
            match (&mut first, &mut second) {
                (Some(one), Some(other)) => self.run_both(one, other),
                (Some(one), None) => self.run_alone(one),
                (None, _) => return,
            }
            first = first.filter(|cursor| cursor.due.is_some());
            second = second.filter(|cursor| cursor.due.is_some());
        }
    }

    /// The residue in a slot.
    pub(super) fn slot(&self, slot: Slot) -> &[Lane] {
        self.slots.get(self.range(slot)).unwrap_or_default()
    }

    /// All slots.
    pub(super) fn into_slots(mut self) -> Vec<Lane> {
        std::mem::take(&mut self.slots)
    }

    /// The next list with a pending product; lists without products are completed on the way.
    fn start<'l, 'a>(&mut self, waiting: &mut Vec<&'l List<'a>>) -> Option<Cursor<'l, 'a>> {
        while let Some(list) = waiting.pop() {
            let mut cursor = Cursor {
                rest: list.ops.iter(),
                parallel: list.parallel,
                due: None,
            };
            self.advance(&mut cursor);
            if cursor.due.is_some() {
                return Some(cursor);
            }
        }
        None
    }

    fn run_both<'a>(&mut self, one: &mut Cursor<'_, 'a>, other: &mut Cursor<'_, 'a>) {
        if let (Some(a), Some(b)) = (one.due, other.due) {
            self.pair(a, b);
        }
        self.advance(one);
        self.advance(other);
    }

    fn run_alone(&mut self, cursor: &mut Cursor<'_, '_>) {
        let Some(a) = cursor.due else { return };
        if cursor.parallel {
            self.advance(cursor);
            match cursor.due {
                Some(b) if b.0 != a.0 => {
                    self.pair(a, b);
                    self.advance(cursor);
                }
                _ => self.single(a),
            }
        } else {
            self.single(a);
            self.advance(cursor);
        }
    }

    /// Runs the steps that are not products, up to the next product.
    fn advance(&mut self, cursor: &mut Cursor<'_, '_>) {
        cursor.due = None;
        for op in cursor.rest.by_ref() {
            #[cfg(test)]
            super::trace::step(op);
            match *op {
                Op::Copy(to, from) => {
                    let (start, end) = (self.range(from), self.range(to).start);
                    self.slots.copy_within(start, end);
                }
                Op::Load(to, row) => {
                    let range = self.range(to);
                    if let Some(slot) = self.slots.get_mut(range) {
                        slot.copy_from_slice(row);
                    }
                }
                Op::Scan { table, picks, to } => self.scan(table, &picks.map(u64::from), to),
                Op::Square(slot) => cursor.due = Some((slot, None)),
                Op::Multiply(slot, by) => cursor.due = Some((slot, Some(Operand::Slot(by)))),
                Op::MultiplyBy(slot, by) => cursor.due = Some((slot, Some(Operand::Row(by)))),
            }
            if cursor.due.is_some() {
                return;
            }
        }
    }

    fn scan(&mut self, table: Table<'_>, picks: &[u64; PICKS], to: Slot) {
        let lanes = self.engine.lanes();
        let out = self.range(to).start..self.range(to.saturating_add(PICKS)).start;
        match table {
            Table::Rows(rows) => {
                if let Some(out) = self.slots.get_mut(out) {
                    self.engine.scan(rows, picks, out);
                }
            }
            Table::Slots(first, count) => {
                let start = self.range(first).start;
                let rows = start..start.saturating_add(count.saturating_mul(lanes));
                if let Ok([rows, out]) = self.slots.get_disjoint_mut([rows, out]) {
                    self.engine.scan(rows, picks, out);
                }
            }
        }
    }

    fn single(&mut self, (slot, by): Due<'_>) {
        let range = self.range(slot);
        let [operand, _] = &mut self.operands;
        let by = fetch(&self.slots, operand, by);
        if let Some(acc) = self.slots.get_mut(range) {
            self.engine.product(acc, by);
        }
    }

    fn pair(&mut self, (one, by_one): Due<'_>, (other, by_other): Due<'_>) {
        let ranges = [self.range(one), self.range(other)];
        let [first, second] = &mut self.operands;
        let by_one = fetch(&self.slots, first, by_one);
        let by_other = fetch(&self.slots, second, by_other);
        if let Ok([one, other]) = self.slots.get_disjoint_mut(ranges) {
            let (one, other) = (Factors::new(one, by_one), Factors::new(other, by_other));
            self.engine.pair(one, other);
        }
    }

    fn range(&self, slot: Slot) -> std::ops::Range<usize> {
        let lanes = self.engine.lanes();
        let start = slot.saturating_mul(lanes);
        start..start.saturating_add(lanes)
    }
}

impl Drop for SlotMachine<'_> {
    fn drop(&mut self) {
        if self.secret {
            self.slots.zeroize();
            self.operands.iter_mut().for_each(Zeroize::zeroize);
        }
    }
}

/// The factor of a product. A factor in a slot is copied, so that the slots can be written.
fn fetch<'s>(
    slots: &[Lane],
    copy: &'s mut [Lane],
    operand: Option<Operand<'s>>,
) -> Option<&'s [Lane]> {
    match operand? {
        Operand::Row(row) => Some(row),
        Operand::Slot(slot) => {
            let start = slot.saturating_mul(copy.len());
            if let Some(residue) = slots.get(start..start.saturating_add(copy.len())) {
                copy.copy_from_slice(residue);
            }
            Some(copy)
        }
    }
}
