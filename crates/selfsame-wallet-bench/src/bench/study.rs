//! The figures of *Enterprise Wallet - Performance Testing* (2018).

/// Claims a second by one thread, at 1.2 s a claim, and by eight, at 0.93 s.
pub(super) const CLAIMS_S: [f64; 2] = [0.83, 1.08];
/// A proof by one thread; more threads crashed.
pub(super) const PROOF_MS: f64 = 600.0;
/// Rows a second into the wallet directly, without an index: 974,400 in 12,681 s.
pub(super) const LOAD_S: f64 = 76.8;
