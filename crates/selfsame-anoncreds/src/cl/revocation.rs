//! Revocation: a proof that a credential is in its registry's accumulator, without revealing which credential it is.
//!
//! The scheme is the accumulator of Camenisch, Kohlweiss and Soriente with a pairing of type 3, on the curve BN254 of
//! Beuchat and Nogami. (AnonCreds v1.0, "Generating a Credential Definition With Revocation Support".) Values and bytes
//! are those of the published implementations.
//!
//! # What is checked
//!
//! | who | what | paragraph of AnonCreds v1.0 |
//! |---|---|---|
//! | all | points lie on their curve and in the subgroup of prime order, with coordinates below the field's; only an accumulator and a witness may be the neutral element; of tails, the sums ([`TailSum`](selfsame_bignum::pairing::TailSum) says why that is enough) | "Generating a Credential Definition With Revocation Support" |
//! | issuer | the index is between 1 and `maxCredNum`, its bit allows the change, the blinded secret is not the neutral element | "Constructing a Credential" |
//! | issuer | in a change of the list no index is revoked or issued twice, and index 0 is not in it: its tail is the secret one | "AnonCreds Credential Activation/Revocation and Publication" |
//! | holder | the tails file has the length, version and hash that the registry's definition gives | "Tails File and Tails File Generation" |
//! | holder | the index is in range; m₂ is that of the primary part; both g_i are equal; both signatures hold; u_i has the exponent of g_i | "Supporting Revocation in a Credential", "Receiving a Credential" |
//! | holder | every witness fits the accumulator it is made or updated for | "Collecting Data for Generating the Non-Revocation Proof" |
//! | verifier | T₁ … T₈ from the responses enter the challenge, m₂ is the primary proof's response, and the blinded parts are those in the aggregated proof | "Verify Non-Revocation Proof" |
//!
//! # Secret exponents
//!
//! All are used in constant time, by `mul` of points and of tables of fixed points, powers of constant pairings, and
//! `Scalar`. Only the verifier uses the variable-time `mul_public` and `pow_public`.
//!
//! - issuer: x and sk; γ with its powers γ^i and γ^(L+1-i) and sums of them; 1/(x + c), 1/(sk + γ^i), c, v″;
//! - holder: v′; c and v′ + v″; the blinding ρ, r, r′, r″, r‴, o, o′ and the products m, m′, t, t′; the masks of all of
//!   them, and of m₂.
//!
//! The verifier has no secrets, and the points of a witness are added in the order of public indices; which of them is
//! left out depends on the holder's own index, so an observer of memory accesses could learn the index.
//!
//! # Indices at the edges
//!
//! - The status list has bits for the indices 0 to L - 1, the accumulator has places for 1 to L. Whether index L counts
//!   as issued depends on how the registry began, which no bit shows: [`Witness::build`] finds out from the
//!   accumulator.
//! - Index 0 never counts as issued, so revoking it is refused here.

mod credential;
mod key;
mod list;
mod proof;
mod registry;
mod tails;
mod verify;
mod witness;

pub(crate) use credential::{IssueRequest, Issued, blind};
pub use credential::{
    IssuedContext, NonRevocationCredentialSignature, RevocationBlinding, WitnessSignature,
};
pub use key::{
    CredentialRevocationPrivateKey, CredentialRevocationPublicKey, RevocationKey,
    RevocationKeyPrivate, RevocationKeyPublic,
};
pub(crate) use key::{generate_key, generate_registry_key};
pub use list::{Changes, IssuedAtStart, MAX_CREDENTIALS, RevocationList};
pub use proof::NonRevocProof;
pub(crate) use proof::{Commitment, Holding};
pub use registry::{Accumulator, RegistryDelta, RegistryIssuer, RevocationRegistry};
pub use tails::{
    TAIL_LENGTH, TAILS_VERSION, Tails, TailsFile, TailsGenerator, TailsHash, tails_length,
};
pub(crate) use verify::RegistryData;
pub use witness::{Witness, WitnessContext};

use selfsame_bignum::Random;
use selfsame_bignum::pairing::Scalar;
use zeroize::Zeroizing;

/// A uniformly distributed secret scalar.
fn scalar(random: &mut Random) -> Scalar {
    let mut bytes = Zeroizing::new([0; 64]);
    random.fill(bytes.as_mut_slice());
    Scalar::from_random_bytes(&bytes)
}

#[cfg(test)]
mod tests;
