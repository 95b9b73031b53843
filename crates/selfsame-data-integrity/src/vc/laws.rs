//! The rules of credentials and presentations with Data Integrity proofs, in the order in which they are checked.

use selfsame_verdict::{BrokenRule, Law};

pub(super) const READABLE: Law = Law::new("readable", "Data Integrity §2.1", BrokenRule::Invalid);
pub(super) const CONTEXT: Law = Law::new(
    "context",
    "VCDM 1.1 §4.1, VCDM 2.0 §4.3, Data Integrity §2.4.1",
    BrokenRule::Invalid,
);
pub(super) const TYPE: Law = Law::new("type", "VCDM 1.1 §4.3, VCDM 2.0 §4.5", BrokenRule::Invalid);
pub(super) const MEMBERS: Law = Law::new(
    "required_members",
    "VCDM 1.1 §4.2-4.10, VCDM 2.0 §4.4-4.13",
    BrokenRule::Invalid,
);
pub(super) const PROOF_KEY: Law = Law::new(
    "proof_key",
    "Data Integrity §2.1, VCDM 2.0 §4.7, §4.13",
    BrokenRule::Unverifiable,
);
pub(super) const PROOF_ASKED: Law =
    Law::new("proof_asked", "Data Integrity §4.4", BrokenRule::Invalid);
pub(super) const PROOF: Law = Law::new("proof", "Data Integrity §4.4, §4.5", BrokenRule::Invalid);
pub(super) const TIMES: Law = Law::new(
    "times",
    "VCDM 1.1 §4.6, §4.8, VCDM 2.0 §4.9",
    BrokenRule::Invalid,
);
pub(super) const NOT_BEFORE: Law = Law::new(
    "not_before",
    "VCDM 1.1 §4.6, VCDM 2.0 §4.9",
    BrokenRule::NotYetValid,
);
pub(super) const EXPIRY: Law = Law::new(
    "expiry",
    "VCDM 1.1 §4.8, VCDM 2.0 §4.9",
    BrokenRule::Expired,
);

const OF_ALL: &[&Law] = &[
    &READABLE,
    &CONTEXT,
    &TYPE,
    &MEMBERS,
    &PROOF_KEY,
    &PROOF_ASKED,
    &PROOF,
];
const OF_TIMES: &[&Law] = &[&TIMES, &NOT_BEFORE, &EXPIRY];

pub(super) const OF_CREDENTIALS: &[&[&Law]] = &[OF_ALL, OF_TIMES];
pub(super) const OF_PRESENTATIONS: &[&[&Law]] = &[OF_ALL];
