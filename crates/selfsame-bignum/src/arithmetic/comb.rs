//! Fixed bases: tables that reduce a power to an eighth of a product for each bit.

use std::{fmt, sync::Arc};

use super::{
    engine::Engine,
    lane::Lane,
    list::{List, Op, Slot},
    modulus::{Element, Modulus},
    program::SlotMachine,
};

/// The bits of an exponent that one look-up handles.
const TEETH: usize = 8;
const ROWS: usize = 1 << TEETH;
/// The most columns of a table, and therefore the most squarings of a power.
const COLUMNS: usize = 27;

/// A base that is used repeatedly, with its table (Lim and Lee's comb). Cloning it is cheap.
///
/// An exponent is cut into blocks of eight rows by `columns` bits. The table has, for each block, the products of the
/// base's powers for all 256 patterns of a column. Its size is 380 bytes for each bit of the exponent at 2,050 bits.
#[derive(Clone)]
pub struct FixedBase(Arc<Comb>);

struct Comb {
    base: Element,
    /// The base to the power 2^capacity, for longer exponents.
    beyond: Element,
    columns: usize,
    blocks: usize,
    rows: Vec<Lane>,
}

impl FixedBase {
    /// Prepares a base for exponents of up to `exponent_bits` bits; longer ones are slower.
    #[cfg(test)]
    pub(crate) fn new(modulus: &Modulus, base: &Element, exponent_bits: usize) -> Self {
        let engine = modulus.engine();
        let shape = Shape::new(exponent_bits);
        let teeth = teeth(engine, &[(base, shape)]);
        Self::with_teeth(
            engine,
            base,
            shape,
            teeth.first().map_or(&[], Vec::as_slice),
        )
    }

    /// Prepares several bases, each for its exponents' bits, at once, which is faster than one after the other.
    pub fn new_all(modulus: &Modulus, bases: &[(&Element, usize)]) -> Vec<Self> {
        let engine = modulus.engine();
        let shaped: Vec<(&Element, Shape)> = bases
            .iter()
            .map(|(base, bits)| (*base, Shape::new(*bits)))
            .collect();
        let teeth = teeth(engine, &shaped);
        shaped
            .iter()
            .zip(&teeth)
            .map(|((base, shape), teeth)| Self::with_teeth(engine, base, *shape, teeth))
            .collect()
    }

    /// The memory of the table, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Comb>().saturating_add(self.0.rows.len().saturating_mul(size_of::<Lane>()))
    }

    /// The base itself.
    pub(crate) fn base(&self) -> &Element {
        &self.0.base
    }

    /// The bits of an exponent that the table covers.
    pub(super) fn capacity(&self) -> usize {
        self.0
            .columns
            .saturating_mul(self.0.blocks)
            .saturating_mul(TEETH)
    }

    /// The base to the power 2^capacity.
    pub(super) fn beyond(&self) -> &Element {
        &self.0.beyond
    }

    /// The number of columns of a block.
    pub(super) fn columns(&self) -> usize {
        self.0.columns
    }

    /// The blocks that an exponent of `bits` bits needs, each with all its rows.
    pub(super) fn blocks(&self, bits: usize) -> impl Iterator<Item = (usize, &[Lane])> {
        let size = self
            .0
            .rows
            .len()
            .checked_div(self.0.blocks)
            .unwrap_or(1)
            .max(1);
        let needed = bits.div_ceil(self.0.columns.saturating_mul(TEETH).max(1));
        self.0.rows.chunks_exact(size).take(needed).enumerate()
    }

    /// The pattern of one column of one block of an exponent.
    pub(super) fn pattern(&self, exponent: &[u64], block: usize, column: usize) -> u8 {
        let block = block.saturating_mul(TEETH).saturating_mul(self.0.columns);
        (0..TEETH).rev().fold(0, |pattern, tooth| {
            let place = block
                .saturating_add(tooth.saturating_mul(self.0.columns))
                .saturating_add(column);
            let limb = exponent.get(place.wrapping_div(64)).copied().unwrap_or(0);
            let bit = limb.wrapping_shr(u32::try_from(place.wrapping_rem(64)).unwrap_or(0)) & 1;
            pattern << 1 | u8::from(bit != 0)
        })
    }

    fn with_teeth(engine: &Engine, base: &Element, shape: Shape, teeth: &[Lane]) -> Self {
        let mut powers = teeth.chunks_exact(engine.lanes());
        let mut list = List {
            ops: Vec::with_capacity(shape.blocks.saturating_mul(2 * ROWS)),
            parallel: true,
        };
        for block in 0..shape.blocks {
            let first = block.saturating_mul(ROWS);
            list.ops.push(Op::Load(first, engine.one()));
            for (tooth, power) in powers.by_ref().take(TEETH).enumerate() {
                level(&mut list, first, 1 << tooth, power);
            }
        }
        let mut machine = SlotMachine::new(engine, shape.blocks.saturating_mul(ROWS), false);
        machine.run(&[list]);
        Self(Arc::new(Comb {
            base: base.clone(),
            beyond: Element::from_lanes(powers.next().unwrap_or_else(|| engine.one())),
            columns: shape.columns,
            blocks: shape.blocks,
            rows: machine.into_slots(),
        }))
    }
}

impl fmt::Debug for FixedBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FixedBase({} bits)", self.capacity())
    }
}

/// The rows whose highest tooth is this one: the rows below it, times the tooth's power.
fn level<'a>(list: &mut List<'a>, first: Slot, half: usize, power: &'a [Lane]) {
    let start = first.saturating_add(half);
    list.ops.push(Op::Load(start, power));
    for row in 1..half {
        list.ops.push(Op::Copy(
            start.saturating_add(row),
            first.saturating_add(row),
        ));
        list.ops
            .push(Op::MultiplyBy(start.saturating_add(row), power));
    }
}

#[derive(Clone, Copy)]
struct Shape {
    columns: usize,
    blocks: usize,
}

impl Shape {
    fn new(bits: usize) -> Self {
        let blocks = bits.div_ceil(TEETH * COLUMNS).max(1);
        Self {
            blocks,
            columns: bits.div_ceil(blocks.saturating_mul(TEETH)).max(1),
        }
    }

    /// The number of teeth: one for each row of each block, and the one beyond.
    fn teeth(self) -> usize {
        self.blocks.saturating_mul(TEETH).saturating_add(1)
    }
}

/// For each base its powers 2^(columns·i), one after the other.
fn teeth(engine: &Engine, bases: &[(&Element, Shape)]) -> Vec<Vec<Lane>> {
    let mut next = 0_usize;
    let mut lists = Vec::new();
    for (base, shape) in bases {
        let mut ops = vec![Op::Load(next, base.lanes())];
        for tooth in next.saturating_add(1)..next.saturating_add(shape.teeth()) {
            ops.push(Op::Copy(tooth, tooth.saturating_sub(1)));
            ops.extend(std::iter::repeat_n(Op::Square(tooth), shape.columns));
        }
        lists.push(List {
            ops,
            parallel: false,
        });
        next = next.saturating_add(shape.teeth());
    }
    let mut machine = SlotMachine::new(engine, next, false);
    machine.run(&lists);
    let slots = machine.into_slots();
    let mut rest = slots.as_slice();
    bases
        .iter()
        .map(|(_, shape)| {
            let (own, others) =
                rest.split_at(shape.teeth().saturating_mul(engine.lanes()).min(rest.len()));
            rest = others;
            own.to_vec()
        })
        .collect()
}
