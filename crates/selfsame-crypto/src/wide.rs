//! 256-bit unsigned integers for the fields of the curves. No secrets here.

/// Four limbs, the least significant first.
pub type Wide = [u64; 4];

/// The product, below 2^512: its lower half, then its upper half.
pub fn product([a0, a1, a2, a3]: &Wide, b: &Wide) -> (Wide, Wide) {
    let mut product = [0_u64; 8];
    for (at, limb) in b.iter().enumerate() {
        let Some([t0, t1, t2, t3, t4]) = product.get_mut(at..).and_then(<[u64]>::first_chunk_mut)
        else {
            continue;
        };
        let mut carry;
        (*t0, carry) = a0.carrying_mul_add(*limb, *t0, 0);
        (*t1, carry) = a1.carrying_mul_add(*limb, *t1, carry);
        (*t2, carry) = a2.carrying_mul_add(*limb, *t2, carry);
        (*t3, *t4) = a3.carrying_mul_add(*limb, *t3, carry);
    }
    let [l0, l1, l2, l3, h0, h1, h2, h3] = product;
    ([l0, l1, l2, l3], [h0, h1, h2, h3])
}

/// The sum, and whether it exceeded 2^256.
pub fn sum([a0, a1, a2, a3]: &Wide, [b0, b1, b2, b3]: &Wide) -> (Wide, bool) {
    let (s0, carry) = a0.carrying_add(*b0, false);
    let (s1, carry) = a1.carrying_add(*b1, carry);
    let (s2, carry) = a2.carrying_add(*b2, carry);
    let (s3, carry) = a3.carrying_add(*b3, carry);
    ([s0, s1, s2, s3], carry)
}

/// Applies `act` to the number `times` times, for example squaring.
pub fn repeated(mut number: Wide, times: u32, act: impl Fn(&Wide) -> Wide) -> Wide {
    for _ in 0..times {
        number = act(&number);
    }
    number
}
