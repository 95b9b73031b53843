//! Tests of the pairing: laws, agreement with the published implementation, and what decoding refuses.

mod constant_time;
mod decoding;
mod laws;
mod oracle;
mod speed;

use proptest::prelude::*;

use super::{G1, G2, Scalar};

/// Scalars, every second of which is near an edge.
pub(super) fn scalar() -> impl Strategy<Value = Scalar> {
    let edge = (0u64..3, any::<bool>()).prop_map(|(small, negative)| {
        let small = Scalar::from(small);
        if negative { small.neg() } else { small }
    });
    let low = any::<u64>().prop_map(Scalar::from);
    let any = proptest::array::uniform32(any::<u8>());
    let any = any.prop_map(|bytes| Scalar::from_be_bytes_reduced(&bytes));
    prop_oneof![1 => edge, 1 => low, 4 => any]
}

fn g1() -> impl Strategy<Value = G1> {
    scalar().prop_map(|scalar| G1::generator().mul(&scalar))
}

fn g2() -> impl Strategy<Value = G2> {
    scalar().prop_map(|scalar| G2::generator().mul(&scalar))
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}
