//! Products of powers with secret exponents: equal steps and memory accesses for all exponents of the given widths.

use zeroize::Zeroizing;

use super::{
    Secret,
    engine::Engine,
    lane::{Lane, PICKS},
    limbs,
    list::{List, Op, Slot, Table},
    modulus::{Element, Modulus},
    program::SlotMachine,
    term::{Base, SecretTerm},
};

/// Bits of a window over an exponent of a base without a table.
const WINDOW: usize = 5;
const ROWS: usize = 1 << WINDOW;

impl Modulus {
    /// The product of the powers, in constant time in the exponents, which must not be negative: every step depends
    /// only on their widths, and every look-up reads the whole table.
    pub fn secret_power(&self, terms: &[SecretTerm<'_>]) -> Element {
        let mut powers = self.secret_powers(&[terms]);
        powers.pop().unwrap_or_else(|| self.one())
    }

    /// Several products of powers in constant time, faster than one by one.
    pub fn secret_powers(&self, groups: &[&[SecretTerm<'_>]]) -> Vec<Element> {
        products(self.engine(), groups)
    }
}

/// Computes independent products of powers, two at a time.
pub(super) fn products(engine: &Engine, groups: &[&[SecretTerm<'_>]]) -> Vec<Element> {
    let mut plan = SecretPowerPlan::new(engine.one());
    let ends: Vec<Slot> = groups
        .iter()
        .map(|terms| plan.product(&factors(terms)))
        .collect();
    let mut machine = SlotMachine::new(engine, plan.slots, true);
    machine.run(&plan.first);
    machine.run(&plan.last);
    plan.first.iter_mut().for_each(List::wipe);
    ends.iter()
        .map(|end| Element::from_lanes(machine.slot(*end)))
        .collect()
}

/// A base and its exponent of a declared width. An exponent longer than its table makes two factors.
struct SecretFactor<'a> {
    base: Base<'a>,
    exponent: Zeroizing<Vec<u64>>,
    bits: usize,
}

fn factors<'a>(terms: &[SecretTerm<'a>]) -> Vec<SecretFactor<'a>> {
    let mut factors = Vec::new();
    for term in terms {
        let bits = term.exponent.bits();
        match term.base {
            // The power is one. A table has no column for it.
            _ if bits == 0 => {}
            Base::Fixed(fixed) if bits > fixed.capacity() => {
                let capacity = fixed.capacity();
                factors.push(SecretFactor::new(term.base, term.exponent, 0..capacity));
                factors.push(SecretFactor::new(
                    Base::Variable(fixed.beyond()),
                    term.exponent,
                    capacity..bits,
                ));
            }
            base => factors.push(SecretFactor::new(base, term.exponent, 0..bits)),
        }
    }
    factors
}

impl<'a> SecretFactor<'a> {
    /// The bits of the exponent in this range.
    fn new(base: Base<'a>, exponent: &Secret, range: std::ops::Range<usize>) -> Self {
        let bits = range.len();
        let own = (0..bits.div_ceil(64)).map(|limb| {
            let start = limb.saturating_mul(64);
            let width = bits.saturating_sub(start).min(64);
            limbs::bits(exponent.limbs(), range.start.saturating_add(start), width)
        });
        Self {
            base,
            exponent: Zeroizing::new(own.collect()),
            bits,
        }
    }
}

/// The lists to run: first the chains of squarings and the columns of tables, then the products that join them.
struct SecretPowerPlan<'a> {
    one: &'a [Lane],
    slots: usize,
    first: Vec<List<'a>>,
    last: Vec<List<'a>>,
}

impl<'a> SecretPowerPlan<'a> {
    fn new(one: &'a [Lane]) -> Self {
        Self {
            one,
            slots: 0,
            first: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Plans one product of powers and returns the slot of its result.
    fn product(&mut self, factors: &[SecretFactor<'a>]) -> Slot {
        let chain = self.chain(factors);
        let columns = self.columns(factors);
        let result = self.take(1);
        let mut join = List::default();
        join.ops.push(Op::Load(result, self.one));
        let (first, last) = (columns.start, columns.end);
        for column in columns.rev() {
            if column.saturating_add(1) == last {
                join.ops.push(Op::Copy(result, column));
            } else {
                join.ops.push(Op::Square(result));
                join.ops.push(Op::Multiply(result, column));
            }
        }
        match chain {
            Some(chain) if last > first => join.ops.push(Op::Multiply(result, chain)),
            Some(chain) => join.ops.push(Op::Copy(result, chain)),
            None => {}
        }
        self.last.push(join);
        result
    }

    /// The powers of bases without a table: fixed windows over a common chain of squarings.
    fn chain(&mut self, factors: &[SecretFactor<'a>]) -> Option<Slot> {
        // Allocated at full length, so that growing leaves no copies of the picks behind.
        let steps = factors.iter().map(|factor| factor.bits.saturating_mul(2));
        let mut list = List {
            ops: Vec::with_capacity(steps.sum::<usize>().saturating_add(256)),
            parallel: false,
        };
        let mut bases = Vec::new();
        for factor in factors {
            if let Base::Variable(base) = factor.base {
                let (powers, picked) = (self.take(ROWS), self.take(PICKS));
                self.powers(&mut list, powers, base.lanes());
                bases.push((factor, powers, picked));
            }
        }
        let windows = bases
            .iter()
            .map(|(factor, ..)| factor.bits.div_ceil(WINDOW))
            .max()?;
        let result = self.take(1);
        list.ops.push(Op::Load(result, self.one));
        for window in (0..windows).rev() {
            if window.saturating_add(1) < windows {
                list.ops
                    .extend(std::iter::repeat_n(Op::Square(result), WINDOW));
            }
            for (factor, powers, picked) in &bases {
                if window >= factor.bits.div_ceil(WINDOW) {
                    continue;
                }
                // Windows are looked up in fours: those numbered 4k+3 to 4k, when the highest is due.
                let inside = window.wrapping_rem(PICKS);
                if inside == PICKS - 1 || window.saturating_add(1) == factor.bits.div_ceil(WINDOW) {
                    let first = window.saturating_sub(inside);
                    list.ops.push(Op::Scan {
                        table: Table::Slots(*powers, ROWS),
                        picks: std::array::from_fn(|place| {
                            factor.window(first.saturating_add(place))
                        }),
                        to: *picked,
                    });
                }
                list.ops
                    .push(Op::Multiply(result, picked.saturating_add(inside)));
            }
        }
        self.first.push(list);
        Some(result)
    }

    /// base⁰, base¹, base², … in slots one after the other.
    fn powers(&self, list: &mut List<'a>, first: Slot, base: &'a [Lane]) {
        list.ops.push(Op::Load(first, self.one));
        list.ops.push(Op::Load(first.saturating_add(1), base));
        for slot in first.saturating_add(2)..first.saturating_add(ROWS) {
            list.ops.push(Op::Copy(slot, slot.saturating_sub(1)));
            list.ops.push(Op::MultiplyBy(slot, base));
        }
    }

    /// The powers of bases with tables, column by column.
    fn columns(&mut self, factors: &[SecretFactor<'a>]) -> std::ops::Range<Slot> {
        let tables = || {
            factors.iter().filter_map(|factor| match factor.base {
                Base::Fixed(fixed) => Some((fixed, factor)),
                Base::Variable(_) => None,
            })
        };
        let count = tables()
            .map(|(fixed, _)| fixed.columns())
            .max()
            .unwrap_or(0);
        let (first, picked) = (self.take(count), self.take(2 * PICKS));
        let steps = tables().map(|(fixed, _)| fixed.capacity().div_ceil(2));
        let mut list = List {
            ops: Vec::with_capacity(steps.sum()),
            parallel: true,
        };
        let (mut turn, mut begun) = (0, 0);
        for (fixed, factor) in tables() {
            for (block, rows) in fixed.blocks(factor.bits) {
                for start in (0..fixed.columns()).step_by(PICKS) {
                    // Two alternating sets of slots: a product may still be pending while the next rows are looked up.
                    let to = picked.saturating_add(turn);
                    turn ^= PICKS;
                    list.ops.push(Op::Scan {
                        table: Table::Rows(rows),
                        picks: std::array::from_fn(|place| {
                            fixed.pattern(&factor.exponent, block, start.saturating_add(place))
                        }),
                        to,
                    });
                    let inside = fixed.columns().saturating_sub(start).min(PICKS);
                    list.ops.extend((0..inside).map(|place| {
                        let column = start.saturating_add(place);
                        let (slot, by) = (first.saturating_add(column), to.saturating_add(place));
                        if column < begun {
                            Op::Multiply(slot, by)
                        } else {
                            Op::Copy(slot, by)
                        }
                    }));
                }
                begun = begun.max(fixed.columns());
            }
        }
        self.first.push(list);
        first..first.saturating_add(count)
    }

    fn take(&mut self, count: usize) -> Slot {
        let first = self.slots;
        self.slots = first.saturating_add(count);
        first
    }
}

impl SecretFactor<'_> {
    /// One window of the exponent; zero above its width.
    fn window(&self, number: usize) -> u8 {
        let digit = limbs::bits(&self.exponent, number.saturating_mul(WINDOW), WINDOW);
        u8::try_from(digit).unwrap_or(0)
    }
}
