//! The paper's measurements: its tables II to V, times in milliseconds.

use super::world::KeyKind;

/// The paper's tables for one algorithm. A triple has the values for X.509, VC and DID.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Table II: the bytes that the server sends.
    pub bytes: [f64; 3],
    /// Table III: the check of a signature.
    pub verification: f64,
    /// Table III: the identity messages, including the resolution.
    pub processing: [f64; 3],
    /// Table IV: only the server authenticates.
    pub unilateral: [f64; 3],
    /// Table IV: both sides authenticate.
    pub mutual: [f64; 3],
    /// Table V: X.509 and VC, X.509 and DID, VC and X.509, DID and X.509.
    pub hybrid: [f64; 4],
}

const RSA: Study = Study {
    bytes: [2063.0, 1516.0, 623.0],
    verification: 1.0,
    processing: [8.0, 45.0, 47.0],
    unilateral: [78.0, 110.0, 109.0],
    mutual: [116.0, 190.0, 187.0],
    hybrid: [152.0, 150.0, 151.0, 149.0],
};
const ECDSA: Study = Study {
    bytes: [1082.0, 1094.0, 437.0],
    verification: 1.0,
    processing: [9.0, 48.0, 47.0],
    unilateral: [43.0, 78.0, 77.0],
    mutual: [50.0, 124.0, 122.0],
    hybrid: [87.0, 86.0, 83.0, 81.0],
};
const EDDSA: Study = Study {
    bytes: [950.0, 1072.0, 431.0],
    verification: 11.0,
    processing: [27.0, 57.0, 45.0],
    unilateral: [71.0, 93.0, 83.0],
    mutual: [104.0, 161.0, 143.0],
    hybrid: [131.0, 122.0, 129.0, 118.0],
};

impl Study {
    /// The paper's figures for one algorithm.
    #[must_use]
    pub const fn of(kind: KeyKind) -> Self {
        match kind {
            KeyKind::Rsa => RSA,
            KeyKind::Ecdsa => ECDSA,
            KeyKind::Eddsa => EDDSA,
        }
    }
}
