//! Points of y² = x³ + 1 - i over F_p², eight at once: each lane holds one digit of eight numbers, one for each sum.
//!
//! Numbers are in Montgomery form for R = 2^260, where p/R < 1/110, so that few of them need to be reduced below p: a
//! sum of products a·b/R is below (1 + Σ a/p·b/p / 110)·p. Comments such as "below 5p" at a step give these bounds.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64,
};

use super::super::field::{Affine, Field, Sums};
use super::{DIGIT, load, store};

/// Digits of a number.
const D: usize = 5;

/// Eight elements of F_p.
type Fp = [__m512i; D];

/// Eight elements of F_p².
#[derive(Clone, Copy)]
struct Fp2 {
    re: Fp,
    im: Fp,
}

struct Constants {
    p: Fp,
    /// The multiples of p by two to six.
    multiples: [Fp; 5],
    square: Fp,
    inverse: __m512i,
    reciprocal: __m512i,
}

/// Adds a point to each sum; repeats this for every eight points.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add(field: &Field, sums: &mut Sums, points: &[Affine]) {
    let k = constants(field);
    let mut sum = sums.each_ref().map(|pair| read(pair));
    for [x, y] in points {
        let [x, y] = [x, y].map(|pair| {
            let plain = read(pair);
            Fp2 {
                re: products(&k, [&plain.re], [&k.square]),
                im: products(&k, [&plain.im], [&k.square]),
            }
        });
        sum = add_affine(&k, &sum, &x, &y);
    }
    write(sums, &sum);
}

/// Converts the sums from Montgomery form to numbers up to p.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn leave(field: &Field, sums: &mut Sums) {
    let k = constants(field);
    let mut unit = [_mm512_setzero_si512(); D];
    unit[0] = _mm512_set1_epi64(1);
    let sum = sums.each_ref().map(|pair| {
        let Fp2 { re, im } = read(pair);
        Fp2 {
            re: products(&k, [&re], [&unit]),
            im: products(&k, [&im], [&unit]),
        }
    });
    write(sums, &sum);
}

/// Complete addition of affine points, none of them infinity (Renes, Costello and Batina, EUROCRYPT 2016, algorithm 8);
/// all below 2p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_affine(k: &Constants, sum: &[Fp2; 3], x: &Fp2, y: &Fp2) -> [Fp2; 3] {
    let [x1, y1, z1] = sum;
    let [p2, p3, p4, p5, p6] = &k.multiples;
    // Below 1.1p, four times.
    let xx = product(k, x1, x, p2);
    let yy = product(k, y1, y, p2);
    let zx = product(k, z1, x, p2);
    let zy = product(k, z1, y, p2);
    // Below 1.3p, and 6p without the two products.
    let cross = product(k, &plus(x1, y1), &plus(x, y), p4);
    let xy = minus(&minus(&cross, &xx, p2), &yy, p2);
    // Below 4p.
    let (yz, xz) = (plus(&zy, y1), plus(&zx, x1));
    let xxx = plus(&plus(&xx, &xx), &xx);
    // Below 3p.
    let (bzz, bxz) = (times_3b(k, z1, p2), times_3b(k, &xz, p4));
    // Below 5p.
    let (sum, difference) = (plus(&yy, &bzz), minus(&yy, &bzz, p3));
    let minus_bxz = Fp2 {
        re: difference_of(p3, &bxz.re),
        im: difference_of(p3, &bxz.im),
    };
    // Below 1.9p, as the products of the bounds are 84, 74 and 88 at most.
    [
        two_products(
            k,
            Factors(&xy, &difference, p5),
            Factors(&yz, &minus_bxz, p3),
        ),
        two_products(k, Factors(&xxx, &bxz, p3), Factors(&sum, &difference, p5)),
        two_products(k, Factors(&xxx, &xy, p6), Factors(&yz, &sum, p5)),
    ]
}

/// a·b for numbers b below `most`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product(k: &Constants, a: &Fp2, b: &Fp2, most: &Fp) -> Fp2 {
    let minus_im = difference_of(most, &b.im);
    Fp2 {
        re: products(k, [&a.re, &a.im], [&b.re, &minus_im]),
        im: products(k, [&a.re, &a.im], [&b.im, &b.re]),
    }
}

/// a·b + c·d, with b and d below their bounds, which are multiples of p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn two_products(k: &Constants, first: Factors<'_>, second: Factors<'_>) -> Fp2 {
    let Factors(a, b, most_b) = first;
    let Factors(c, d, most_d) = second;
    let minus_b = difference_of(most_b, &b.im);
    let minus_d = difference_of(most_d, &d.im);
    let left = [&a.re, &a.im, &c.re, &c.im];
    Fp2 {
        re: products(k, left, [&b.re, &minus_b, &d.re, &minus_d]),
        im: products(k, left, [&b.im, &b.re, &d.im, &d.re]),
    }
}

/// Two factors, and a bound for the second one's imaginary part.
struct Factors<'a>(&'a Fp2, &'a Fp2, &'a Fp);

/// (a₀·b₀ + a₁·b₁ + …)/R mod p. A digit takes part in five rows and gains less than 10·2^52 in each.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn products<const K: usize>(k: &Constants, a: [&Fp; K], b: [&Fp; K]) -> Fp {
    let zero = _mm512_setzero_si512();
    let mut t = [zero; D];
    for row in 0..D {
        for term in 0..K {
            for j in 0..D {
                t[j] = _mm512_madd52lo_epu64(t[j], a[term][j], b[term][row]);
            }
        }
        let quotient = _mm512_madd52lo_epu64(zero, t[0], k.inverse);
        for j in 0..D {
            t[j] = _mm512_madd52lo_epu64(t[j], k.p[j], quotient);
        }
        let carry = _mm512_srli_epi64::<52>(t[0]);
        for j in 0..D {
            let mut brought = if j + 1 < D { t[j + 1] } else { zero };
            for term in 0..K {
                brought = _mm512_madd52hi_epu64(brought, a[term][j], b[term][row]);
            }
            t[j] = _mm512_madd52hi_epu64(brought, k.p[j], quotient);
        }
        t[0] = _mm512_add_epi64(t[0], carry);
    }
    carried(t)
}

/// 3·(1 - i)·a for numbers below `most`, which is at most 4p: below 24p, and brought below 3p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn times_3b(k: &Constants, a: &Fp2, most: &Fp) -> Fp2 {
    let (mut re, mut im) = (a.re, a.im);
    for j in 0..D {
        let sum = _mm512_add_epi64(a.re[j], a.im[j]);
        let difference = _mm512_sub_epi64(_mm512_add_epi64(a.im[j], most[j]), a.re[j]);
        re[j] = _mm512_add_epi64(_mm512_add_epi64(sum, sum), sum);
        im[j] = _mm512_add_epi64(_mm512_add_epi64(difference, difference), difference);
    }
    Fp2 {
        re: reduced(k, carried(re)),
        im: reduced(k, carried(im)),
    }
}

/// Subtracts p as often as the highest digit shows, which is at most once too few: below 24p before, below 3p after.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduced(k: &Constants, mut a: Fp) -> Fp {
    let zero = _mm512_setzero_si512();
    let quotient = _mm512_madd52hi_epu64(zero, a[D - 1], k.reciprocal);
    let mut high = zero;
    for j in 0..D {
        let multiple = _mm512_madd52lo_epu64(high, k.p[j], quotient);
        high = _mm512_madd52hi_epu64(zero, k.p[j], quotient);
        a[j] = _mm512_sub_epi64(a[j], multiple);
    }
    carried(a)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn plus(a: &Fp2, b: &Fp2) -> Fp2 {
    let add = |a: &Fp, b: &Fp| {
        let mut sum = *a;
        for j in 0..D {
            sum[j] = _mm512_add_epi64(a[j], b[j]);
        }
        carried(sum)
    };
    Fp2 {
        re: add(&a.re, &b.re),
        im: add(&a.im, &b.im),
    }
}

/// a + most - b, where `most` is a multiple of p above b.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn minus(a: &Fp2, b: &Fp2, most: &Fp) -> Fp2 {
    let subtract = |a: &Fp, b: &Fp| {
        let mut difference = *a;
        for j in 0..D {
            difference[j] = _mm512_sub_epi64(_mm512_add_epi64(a[j], most[j]), b[j]);
        }
        carried(difference)
    };
    Fp2 {
        re: subtract(&a.re, &b.re),
        im: subtract(&a.im, &b.im),
    }
}

/// a - b, which is not negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn difference_of(a: &Fp, b: &Fp) -> Fp {
    let mut difference = *a;
    for j in 0..D {
        difference[j] = _mm512_sub_epi64(a[j], b[j]);
    }
    carried(difference)
}

/// Brings every digit but the highest between zero and 2^52; carries may be negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carried(mut a: Fp) -> Fp {
    let digit = _mm512_set1_epi64(DIGIT);
    for j in 1..D {
        a[j] = _mm512_add_epi64(a[j], _mm512_srai_epi64::<52>(a[j - 1]));
        a[j - 1] = _mm512_and_si512(a[j - 1], digit);
    }
    a
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn constants(field: &Field) -> Constants {
    let all = |digits: &[u64; D]| digits.map(|digit| _mm512_set1_epi64(digit.cast_signed()));
    let p = all(&field.p);
    let mut multiples = [p; 5];
    let mut multiple = p;
    for slot in &mut multiples {
        for j in 0..D {
            multiple[j] = _mm512_add_epi64(multiple[j], p[j]);
        }
        multiple = carried(multiple);
        *slot = multiple;
    }
    Constants {
        p,
        multiples,
        square: all(&field.square),
        inverse: _mm512_set1_epi64(field.negated_inverse.cast_signed()),
        reciprocal: _mm512_set1_epi64(field.reciprocal.cast_signed()),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn read(pair: &[[super::Lane; D]; 2]) -> Fp2 {
    let [re, im] = pair;
    Fp2 {
        re: load(re),
        im: load(im),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn write(sums: &mut Sums, values: &[Fp2; 3]) {
    for ([re, im], value) in sums.iter_mut().zip(values) {
        store(re, value.re);
        store(im, value.im);
    }
}
