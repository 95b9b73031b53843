//! Tests of both protocols: each side against the other, and against messages that break the rules.

#[path = "protocol/arbitrary.rs"]
mod arbitrary;
#[path = "protocol/attested.rs"]
mod attested;
#[path = "protocol/deferral.rs"]
mod deferral;
#[path = "protocol/encrypted.rs"]
mod encrypted;
#[path = "protocol/holder.rs"]
mod holder;
#[path = "protocol/issuer.rs"]
mod issuer;
#[path = "protocol/linked.rs"]
mod linked;
#[path = "protocol/metadata.rs"]
mod metadata;
#[path = "protocol/returned.rs"]
mod returned;
#[path = "protocol/transactions.rs"]
mod transactions;
#[path = "protocol/verifier.rs"]
mod verifier;
#[path = "protocol/wallet.rs"]
mod wallet;
#[path = "protocol/world.rs"]
mod world;
