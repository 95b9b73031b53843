//! Owns the optimal ate pairing: the lines of a point of G2, the Miller loop over several pairs, the final power.

use super::counters;
use super::fp::Fp;
use super::fp2::Fp2;
use super::fp12::Fp12;
use super::g1::G1;
use super::g2::G2;
use super::group::{Coordinate, Point};
use super::gt::Gt;
use super::powers::{MINUS_U, frobenius, power_minus_u};

/// |6u + 2|, below 2^65.
const LOOP: u128 = 6 * MINUS_U as u128 - 2;

/// e(p, q), as `Pair::pair(p, q)` of the published implementation: one if either is the point at infinity.
pub fn pair(p: &G1, q: &G2) -> Gt {
    pair_prepared(&[(*p, &Prepared::new(q))])
}

/// The product of e(p, q) over the pairs, with one final power.
pub fn pair_product(pairs: &[(G1, G2)]) -> Gt {
    let prepared: Vec<Prepared> = pairs.iter().map(|(_, q)| Prepared::new(q)).collect();
    let pairs: Vec<(G1, &Prepared)> = pairs.iter().map(|(p, _)| *p).zip(&prepared).collect();
    pair_prepared(&pairs)
}

/// The product of e(p, q) over pairs with prepared points of G2, with one final power.
pub fn pair_prepared(pairs: &[(G1, &Prepared)]) -> Gt {
    Gt(final_power(&miller_loop(pairs)))
}

/// A point of G2 as the lines that the Miller loop draws through its multiples; no lines for the point at infinity.
#[derive(Clone)]
pub struct Prepared {
    lines: Vec<Line>,
}

/// a·y + b·x·w + c·w·v at the point (x, y) of G1, up to a factor in F_p².
#[derive(Clone, Copy)]
struct Line {
    a: Fp2,
    b: Fp2,
    c: Fp2,
}

impl Prepared {
    /// Computes the lines once, for every pairing with `q`; takes about a third of a pairing.
    pub fn new(q: &G2) -> Self {
        if q.is_identity() {
            return Self { lines: Vec::new() };
        }
        let (x, y) = q.0.to_affine();
        let mut multiple = Point::affine(x, y);
        let mut lines = Vec::with_capacity(70);
        for bit in loop_bits() {
            lines.push(Line::tangent(&mut multiple));
            if bit {
                lines.push(Line::chord(&mut multiple, &x, &y));
            }
        }
        // 6u + 2 is negative, so the multiple so far has the wrong sign.
        multiple = multiple.neg();
        let (x, y) = frobenius(&x, &y);
        lines.push(Line::chord(&mut multiple, &x, &y));
        let (x, y) = frobenius(&x, &y);
        lines.push(Line::chord(&mut multiple, &x, &y.neg()));
        Self { lines }
    }
}

impl Line {
    /// The tangent at a point, which is doubled (Costello, Lange and Naehrig, PKC 2010, section 5).
    fn tangent(point: &mut Point<Fp2>) -> Self {
        let half_xy = point.x.mul(&point.y).halve();
        let yy = point.y.square();
        let zz = point.z.square();
        let bzz = zz.times_3b();
        let bzz3 = bzz.triple();
        let mean = yy.add(&bzz3).halve();
        let yz2 = point.y.add(&point.z).square().sub(&yy.add(&zz));
        let line = Self {
            a: yz2.neg(),
            b: point.x.square().triple(),
            c: bzz.sub(&yy),
        };
        *point = Point {
            x: half_xy.mul(&yy.sub(&bzz3)),
            y: mean.square().sub(&bzz.square().triple()),
            z: yy.mul(&yz2),
        };
        line
    }

    /// The line through a point and (x, y), which is added to it.
    fn chord(point: &mut Point<Fp2>, x: &Fp2, y: &Fp2) -> Self {
        let rise = point.y.sub(&y.mul(&point.z));
        let run = point.x.sub(&x.mul(&point.z));
        let run2 = run.square();
        let run3 = run2.mul(&run);
        let z_rise2 = rise.square().mul(&point.z);
        let x_run2 = point.x.mul(&run2);
        let sum = run3.add(&z_rise2).sub(&x_run2.double());
        *point = Point {
            x: run.mul(&sum),
            y: rise.mul(&x_run2.sub(&sum)).sub(&run3.mul(&point.y)),
            z: point.z.mul(&run3),
        };
        Self {
            a: run,
            b: rise.neg(),
            c: rise.mul(x).sub(&run.mul(y)),
        }
    }
}

/// The bits of the loop's length below the highest, the highest first.
fn loop_bits() -> impl Iterator<Item = bool> {
    (0..64).rev().map(|i| LOOP >> i & 1 == 1)
}

/// A pair's state in the loop.
struct Walk<'a> {
    x: Fp,
    y: Fp,
    lines: std::slice::Iter<'a, Line>,
}

impl Walk<'_> {
    fn step(&mut self, f: &Fp12) -> Fp12 {
        match self.lines.next() {
            Some(line) => f.mul_line(&line.a.scale(&self.y), &line.b.scale(&self.x), &line.c),
            None => *f,
        }
    }
}

fn miller_loop(pairs: &[(G1, &Prepared)]) -> Fp12 {
    let present = pairs
        .iter()
        .filter(|(p, q)| !p.is_identity() && !q.lines.is_empty());
    let mut walks: Vec<Walk<'_>> = present
        .map(|(p, q)| {
            let (x, y) = p.0.to_affine();
            let lines = q.lines.iter();
            Walk { x, y, lines }
        })
        .collect();
    counters::miller_loops(walks.len());
    let mut f = Fp12::ONE;
    for bit in loop_bits() {
        f = f.square();
        f = walks.iter_mut().fold(f, |f, walk| walk.step(&f));
        if bit {
            f = walks.iter_mut().fold(f, |f, walk| walk.step(&f));
        }
    }
    f = f.conjugate();
    f = walks.iter_mut().fold(f, |f, walk| walk.step(&f));
    walks.iter_mut().fold(f, |f, walk| walk.step(&f))
}

/// f^((p¹² - 1)/n): the power of p⁶ - 1 and p² + 1, then the rest as in Scott, Benger, Charlemagne, Dominguez Perez and
/// Kachisa (Pairing 2009), without any additional factor.
fn final_power(f: &Fp12) -> Fp12 {
    counters::final_power();
    let f = f.conjugate().mul(&f.inverse());
    let f = f.frobenius().frobenius().mul(&f);

    // power_u gives the power of -u: odd powers of u are the inverses.
    let fu = power_minus_u(&f).conjugate();
    let fu2 = power_minus_u(&fu).conjugate();
    let fu3 = power_minus_u(&fu2).conjugate();

    let fp = f.frobenius();
    let fp2 = fp.frobenius();
    let y0 = fp.mul(&fp2).mul(&fp2.frobenius());
    let y1 = f.conjugate();
    let fu2p = fu2.frobenius();
    let y2 = fu2p.frobenius();
    let y3 = fu.frobenius().conjugate();
    let y4 = fu.mul(&fu2p).conjugate();
    let y5 = fu2.conjugate();
    let y6 = fu3.mul(&fu3.frobenius()).conjugate();

    // y0 · y1² · y2⁶ · y3¹² · y4¹⁸ · y5³⁰ · y6³⁶.
    let t0 = y6.cyclotomic_square().mul(&y4).mul(&y5);
    let t1 = y3.mul(&y5).mul(&t0);
    let t0 = t0.mul(&y2);
    let t1 = t1.cyclotomic_square().mul(&t0).cyclotomic_square();
    let t0 = t1.mul(&y1).cyclotomic_square();
    t0.mul(&t1.mul(&y0))
}
