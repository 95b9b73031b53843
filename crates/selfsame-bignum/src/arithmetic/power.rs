//! Products of powers with public exponents: simultaneous, in variable time.

use dashu_int::{IBig, Sign, UBig, ops::BitTest};

use super::{
    comb::FixedBase,
    engine::Engine,
    lane::Lane,
    limbs,
    list::{List, Op, Slot},
    modulus::{Element, Modulus},
    program::SlotMachine,
    term::{Base, Term},
};
use crate::Error;

impl Modulus {
    /// The product of the powers; variable time, for public exponents.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a negative exponent of a base that is not coprime to n.
    pub fn power(&self, terms: &[Term<'_>]) -> Result<Element, Error> {
        let mut powers = self.powers(&[terms])?;
        Ok(powers.pop().unwrap_or_else(|| self.one()))
    }

    /// Several products of powers, faster than one by one, with one inversion for all negative exponents.
    ///
    /// # Errors
    /// As for [`power`](Self::power).
    pub fn powers(&self, groups: &[&[Term<'_>]]) -> Result<Vec<Element>, Error> {
        let quotients = quotients(self.engine(), groups);
        let below: Vec<Element> = quotients
            .iter()
            .filter_map(|quotient| quotient.below.clone())
            .collect();
        if below.is_empty() {
            return Ok(quotients
                .into_iter()
                .map(|quotient| quotient.above)
                .collect());
        }
        let mut inverses = self.inverse_all(&below)?.into_iter();
        Ok(quotients
            .into_iter()
            .map(
                |quotient| match quotient.below.and_then(|_| inverses.next()) {
                    Some(inverse) => self.product(&quotient.above, &inverse),
                    None => quotient.above,
                },
            )
            .collect())
    }
}

/// A product of powers with positive exponents, and one of powers with negative exponents, given by their magnitudes.
pub(super) struct Quotient {
    pub(super) above: Element,
    pub(super) below: Option<Element>,
}

/// Computes independent products of powers, two at a time.
pub(super) fn quotients(engine: &Engine, groups: &[&[Term<'_>]]) -> Vec<Quotient> {
    let products: Vec<(bool, Vec<Factor<'_>>)> = groups
        .iter()
        .flat_map(|terms| {
            [Sign::Positive, Sign::Negative]
                .map(|sign| (sign == Sign::Positive, factors(terms, sign)))
        })
        .collect();
    let mut plan = PowerPlan::default();
    let ends: Vec<Option<Slot>> = products
        .iter()
        .map(|(_, factors)| (!factors.is_empty()).then(|| plan.product(factors)))
        .collect();
    let mut machine = SlotMachine::new(engine, plan.slots, false);
    machine.run(&plan.first);
    machine.run(&plan.last);
    let element = |slot: &Option<Slot>| slot.map(|slot| Element::from_lanes(machine.slot(slot)));
    ends.chunks_exact(2)
        .map(|ends| Quotient {
            above: ends
                .first()
                .and_then(element)
                .unwrap_or_else(|| Element::from_lanes(engine.one())),
            below: ends.last().and_then(element),
        })
        .collect()
}

/// A base and a positive exponent. An exponent longer than its table makes two factors.
struct Factor<'a> {
    base: Base<'a>,
    exponent: Vec<u64>,
    bits: usize,
}

fn factors<'a>(terms: &[Term<'a>], sign: Sign) -> Vec<Factor<'a>> {
    let mut factors = Vec::new();
    for term in terms {
        if term.exponent.is_zero() || term.exponent.sign() != sign {
            continue;
        }
        match term.base {
            Base::Fixed(fixed) if magnitude_bits(term.exponent) > fixed.capacity() => {
                let magnitude = term.exponent.clone().into_parts().1;
                let (low, high) = magnitude.split_bits(fixed.capacity());
                factors.push(Factor::new(term.base, &low));
                factors.push(Factor::new(Base::Variable(fixed.beyond()), &high));
            }
            base => factors.push(Factor::new(base, &term.exponent.clone().into_parts().1)),
        }
    }
    factors
}

fn magnitude_bits(exponent: &IBig) -> usize {
    exponent.clone().into_parts().1.bit_len()
}

impl<'a> Factor<'a> {
    fn new(base: Base<'a>, exponent: &UBig) -> Self {
        let bits = exponent.bit_len();
        Self {
            base,
            exponent: limbs::from_integer(exponent, bits.div_ceil(64)),
            bits,
        }
    }
}

/// The lists to run: first the chains of squarings and the columns of tables, then the products that join them.
#[derive(Default)]
struct PowerPlan<'a> {
    slots: usize,
    first: Vec<List<'a>>,
    last: Vec<List<'a>>,
}

impl<'a> PowerPlan<'a> {
    /// Plans one product of powers and returns the slot of its result.
    fn product(&mut self, factors: &[Factor<'a>]) -> Slot {
        let chain = self.chain(factors);
        let columns = self.columns(factors);
        let result = self.take(1);
        let mut join = List::default();
        let mut started = false;
        for column in columns.iter().rev() {
            if started {
                join.ops.push(Op::Square(result));
            }
            if let Some(slot) = column {
                multiply(&mut join, result, *slot, &mut started);
            }
        }
        if let Some(chain) = chain {
            multiply(&mut join, result, chain, &mut started);
        }
        self.last.push(join);
        result
    }

    /// The powers of bases without a table: sliding windows over a common chain of squarings (Straus).
    fn chain(&mut self, factors: &[Factor<'a>]) -> Option<Slot> {
        let mut list = List::default();
        let mut windows: Vec<(usize, Slot)> = Vec::new();
        for factor in factors {
            if let Base::Variable(base) = factor.base {
                let width = window_width(factor.bits);
                let powers = self.odd_powers(&mut list, base.lanes(), width);
                windows.extend(
                    sliding_windows(&factor.exponent, factor.bits, width)
                        .into_iter()
                        .map(|(place, half)| (place, powers.saturating_add(half))),
                );
            }
        }
        windows.sort_unstable_by(|a, b| b.cmp(a));
        let top = windows.first()?.0;
        let result = self.take(1);
        let mut started = false;
        let mut windows = windows.into_iter().peekable();
        for place in (0..=top).rev() {
            if started {
                list.ops.push(Op::Square(result));
            }
            while let Some((_, slot)) = windows.next_if(|(next, _)| *next == place) {
                multiply(&mut list, result, slot, &mut started);
            }
        }
        self.first.push(list);
        Some(result)
    }

    /// base, base³, base⁵, … in slots one after the other.
    fn odd_powers(&mut self, list: &mut List<'a>, base: &'a [Lane], width: usize) -> Slot {
        let count = 1_usize << width.saturating_sub(1);
        let first = self.take(count);
        list.ops.push(Op::Load(first, base));
        if count > 1 {
            let square = self.take(1);
            list.ops.push(Op::Load(square, base));
            list.ops.push(Op::Square(square));
            for slot in first.saturating_add(1)..first.saturating_add(count) {
                list.ops.push(Op::Copy(slot, slot.saturating_sub(1)));
                list.ops.push(Op::Multiply(slot, square));
            }
        }
        first
    }

    /// The powers of bases with tables, column by column: the slots of the columns that are not empty.
    fn columns(&mut self, factors: &[Factor<'a>]) -> Vec<Option<Slot>> {
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
        let first = self.take(count);
        let mut columns: Vec<Option<Slot>> = vec![None; count];
        let mut list = List {
            ops: Vec::new(),
            parallel: true,
        };
        for (fixed, factor) in tables() {
            for (block, rows) in fixed.blocks(factor.bits) {
                for (place, column) in columns.iter_mut().enumerate().take(fixed.columns()) {
                    let pattern = fixed.pattern(&factor.exponent, block, place);
                    if let Some(row) = row(fixed, rows, pattern) {
                        list.ops.push(match *column {
                            Some(slot) => Op::MultiplyBy(slot, row),
                            None => Op::Load(first.saturating_add(place), row),
                        });
                        *column = Some(first.saturating_add(place));
                    }
                }
            }
        }
        self.first.push(list);
        columns
    }

    fn take(&mut self, count: usize) -> Slot {
        let first = self.slots;
        self.slots = first.saturating_add(count);
        first
    }
}

/// The row that a pattern selects; `None` for the pattern of an empty column.
fn row<'a>(fixed: &FixedBase, rows: &'a [Lane], pattern: u8) -> Option<&'a [Lane]> {
    let lanes = fixed.base().lanes().len();
    (pattern != 0)
        .then(|| rows.chunks_exact(lanes).nth(pattern.into()))
        .flatten()
}

/// Multiplies the result by a slot, or starts it with the slot.
fn multiply(list: &mut List<'_>, result: Slot, by: Slot, started: &mut bool) {
    list.ops.push(if *started {
        Op::Multiply(result, by)
    } else {
        Op::Copy(result, by)
    });
    *started = true;
}

/// The window width that takes the fewest products for an exponent of this length.
fn window_width(bits: usize) -> usize {
    match bits {
        0..=8 => 1,
        9..=24 => 2,
        25..=80 => 3,
        81..=240 => 4,
        241..=672 => 5,
        _ => 6,
    }
}

/// An exponent as Σ (2h+1)·2^place: pairs of place and h, with 2h+1 below 2^width.
fn sliding_windows(exponent: &[u64], bits: usize, width: usize) -> Vec<(usize, usize)> {
    let mut windows = Vec::with_capacity(bits.checked_div(width).unwrap_or(0).saturating_add(1));
    let mut place = 0_usize;
    while place < bits {
        let digit = limbs::bits(exponent, place, width);
        if digit & 1 == 1 {
            windows.push((place, usize::try_from(digit >> 1).unwrap_or(0)));
            place = place.saturating_add(width);
        } else {
            place = place.saturating_add(1);
        }
    }
    windows
}
