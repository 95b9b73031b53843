//! Two different secrets lead to the same operations on the same places of the same tables, in the same order.

use std::cell::RefCell;

use subtle::{Choice, ConditionallySelectable};

use super::super::Scalar;
use super::super::fixed::Table;
use super::super::fp::Fp;
use super::super::group::{Coordinate, Point, look_up};
use super::super::split::DigitsG1;

/// A trace of a computation: each operation, and the location of the operand of each choice.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Add,
    Subtract,
    Multiply,
    Square,
    /// Bytes from the location of the previous read.
    Read(isize),
}

thread_local! {
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    static PLACE: RefCell<usize> = const { RefCell::new(0) };
}

fn note(step: Step) {
    STEPS.with_borrow_mut(|steps| steps.push(step));
}

/// A coordinate that records the operations on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traced(Fp);

impl ConditionallySelectable for Traced {
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        let place = std::ptr::from_ref(b).addr();
        let before = PLACE.replace(place);
        note(Step::Read(place.wrapping_sub(before).cast_signed()));
        Self(Fp::conditional_select(&a.0, &b.0, choice))
    }
}

impl Coordinate for Traced {
    const ZERO: Self = Self(Fp::ZERO);
    const ONE: Self = Self(Fp::ONE);

    fn add(&self, other: &Self) -> Self {
        note(Step::Add);
        Self(self.0.add(&other.0))
    }
    fn sub(&self, other: &Self) -> Self {
        note(Step::Subtract);
        Self(self.0.sub(&other.0))
    }
    fn neg(&self) -> Self {
        note(Step::Subtract);
        Self(self.0.neg())
    }
    fn mul(&self, other: &Self) -> Self {
        note(Step::Multiply);
        Self(self.0.mul(&other.0))
    }
    fn square(&self) -> Self {
        note(Step::Square);
        Self(self.0.square())
    }
    fn inverse(&self) -> Self {
        Self(self.0.inverse())
    }
    fn is_zero(&self) -> Choice {
        self.0.is_zero()
    }
    fn times_3b(&self) -> Self {
        note(Step::Add);
        Self(self.0.times_3b())
    }

    type Digits = DigitsG1;
    const PARTS: usize = Fp::PARTS;
    const DIGITS: usize = Fp::DIGITS;
    fn digit(digits: &DigitsG1, part: usize, place: usize) -> (u8, Choice) {
        Fp::digit(digits, part, place)
    }
    fn endomorphism(point: &Point<Self>) -> Point<Self> {
        note(Step::Multiply);
        let Point { x, y, z } = point;
        let (x, y, z) = (x.0, y.0, z.0);
        let Point { x, y, z } = Fp::endomorphism(&Point { x, y, z });
        let (x, y, z) = (Traced(x), Traced(y), Traced(z));
        Point { x, y, z }
    }
}

/// The steps of a sum of two multiples.
fn steps(secrets: [&Scalar; 2]) -> Vec<Step> {
    let point = Point::affine(Traced(Fp::ONE.neg()), Traced(Fp::ONE));
    STEPS.take();
    let sum = Point::sum(&[(point, secrets[0]), (point.double(), secrets[1])]);
    assert!(sum.is_on_curve());
    // The locations of the two tables, and so the distance between them, differ from call to call.
    let mut steps = STEPS.take();
    steps.retain(|step| !matches!(step, Step::Read(way) if way.unsigned_abs() > 2_048));
    steps
}

#[test]
fn a_multiple_touches_the_same_places_for_every_secret() {
    let random = Scalar::from_be_bytes_reduced(&[0x5C; 32]);
    let small = Scalar::from(3);
    let zero = Scalar::zero();
    let last = Scalar::one().neg();
    let expected = steps([&random, &small]);
    let reads = expected.iter().filter(|step| matches!(step, Step::Read(_)));
    // Three coordinates of eight entries for each digit, except for the distances left out.
    assert!(reads.count() > 2 * 2 * 32 * 8 * 2);
    for secrets in [[&zero, &last], [&last, &random], [&small, &small]] {
        assert!(steps(secrets) == expected);
    }
}

#[test]
fn a_multiple_of_a_fixed_point_touches_the_same_places_for_every_secret() {
    let table = Table::new(&Point::affine(Traced(Fp::ONE.neg()), Traced(Fp::ONE)));
    let steps = |secret: &Scalar| {
        PLACE.set(0);
        STEPS.take();
        assert!(table.mul_secret(secret).is_on_curve());
        // Operands of the final choice of each window lie wherever the compiler put them.
        let mut steps = STEPS.take();
        steps.retain(|step| !matches!(step, Step::Read(way) if way.unsigned_abs() > 8_192));
        steps
    };
    let random = Scalar::from_be_bytes_reduced(&[0x5C; 32]);
    let expected = steps(&random);
    let reads = expected.iter().filter(|step| matches!(step, Step::Read(_)));
    // Two coordinates of sixteen entries for each of 51 digits.
    assert!(reads.count() > 51 * 16 * 2 - 51);
    for secret in [
        Scalar::zero(),
        Scalar::one(),
        Scalar::one().neg(),
        Scalar::from(16),
    ] {
        assert!(steps(&secret) == expected);
    }
}

#[test]
fn a_look_up_reads_every_entry_in_order() {
    let table: [Traced; 9] = std::array::from_fn(|i| Traced(Fp::new([i as u64, 0, 0, 0])));
    let mut traces = (0..9u8).map(|index| {
        PLACE.set(0);
        STEPS.take();
        assert_eq!(look_up(&table, index), table[usize::from(index)]);
        STEPS.take()
    });
    let first = traces.next().unwrap();
    assert_eq!(first.len(), 9);
    assert!(traces.all(|trace| trace == first));
}
