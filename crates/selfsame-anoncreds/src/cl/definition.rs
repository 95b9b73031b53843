//! Generating the keys of a credential definition.

use std::collections::BTreeSet;

use dashu_int::{UBig, ops::Gcd as _};
use selfsame_bignum::{Element, Modulus, PrivateModulus, Random, Secret};
use zeroize::{Zeroize as _, Zeroizing};

use super::challenge;
use super::correctness_data::KeyCorrectnessProof;
use super::decimal::MAX_ATTRIBUTES;
use super::key_data::{LINK_SECRET, PrimaryPrivateKey, PrimaryPublicKey};
use super::powers_data::PowersProof;
use super::safe_primes::SafePrimesProof;
use crate::Error;
use crate::seed::PRIMES;

/// Bits of each safe prime, as in the published library, so that n has 2,050.
pub const PRIME_BITS: usize = 1_025;

/// Two safe primes for a key, which may be computed in advance. Secret.
pub struct SafePrimes {
    pub(super) p: UBig,
    pub(super) q: UBig,
}

/// A new credential definition's primary keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The public key, to publish.
    pub public: PrimaryPublicKey,
    /// The private key, for the issuer.
    pub private: PrimaryPrivateKey,
    /// The proof that goes into every offer.
    pub proof: KeyCorrectnessProof,
}

impl SafePrimes {
    /// Searches for two safe primes.
    pub(crate) fn search(random: &mut Random) -> Self {
        let p = PRIMES.safe_prime(PRIME_BITS, random);
        loop {
            let q = PRIMES.safe_prime(PRIME_BITS, random);
            if q != p {
                return Self { p, q };
            }
        }
    }

    /// The product of the primes, big-endian: the modulus, which is public.
    pub(crate) fn modulus(&self) -> Box<[u8]> {
        product(&self.p, &self.q).to_be_bytes()
    }

    /// The primes of a private key.
    #[cfg(test)]
    pub(crate) fn of(private: &PrimaryPrivateKey) -> Self {
        Self {
            p: doubled(&private.p),
            q: doubled(&private.q),
        }
    }
}

/// The first safe prime whose half is `half` or above, within one sieve; big-endian.
pub(crate) fn first_safe_prime(half: &[u8]) -> Option<Vec<u8>> {
    let mut start = UBig::from_be_bytes(half);
    start.set_bit(0);
    PRIMES
        .safe_prime_from(&start)
        .map(|prime| prime.to_be_bytes().into())
}

#[cfg(test)]
fn doubled(half: &UBig) -> UBig {
    half * UBig::from(2_u8) + UBig::ONE
}

impl Drop for SafePrimes {
    fn drop(&mut self) {
        self.p.zeroize();
        self.q.zeroize();
    }
}

/// Generates the primary keys for these attributes and the link secret, and proves that they are well formed.
/// (AnonCreds v1.0, "Generating a Credential Definition Without Revocation Support".)
///
/// # Errors
/// [`Error::Malformed`] without attributes or with one that has the link secret's name; [`Error::TooLarge`].
pub(crate) fn generate(
    attributes: &BTreeSet<String>,
    primes: &SafePrimes,
    random: &mut Random,
) -> Result<Definition, Error> {
    check_names(attributes)?;
    let private = PrimaryPrivateKey {
        p: half(&primes.p),
        q: half(&primes.q),
    };
    let group = Group::new(primes, &private, random)?;
    let mut names = attributes.clone();
    names.insert(LINK_SECRET.to_owned());
    let exponents: Vec<(String, Secret)> = names
        .into_iter()
        .map(|name| (name, group.exponent(random)))
        .collect();
    let x_z = group.exponent(random);
    let x_ctxt = group.exponent(random);
    let r = exponents
        .iter()
        .map(|(name, x)| (name.clone(), group.power(x)));
    let public = PrimaryPublicKey {
        n: group.private.modulus().value().clone(),
        s: group.private.modulus().integer(&group.s),
        r: r.collect(),
        rctxt: group.power(&x_ctxt),
        z: group.power(&x_z),
    };
    let mut proof = group.prove(&public, &x_z, &exponents, random);
    let others = exponents.iter().map(|(_, x)| x);
    let all: Vec<&Secret> = [&x_z, &x_ctxt].into_iter().chain(others).collect();
    let power = |exponent: &Secret| group.power(exponent);
    proof.powers_of_s = Some(PowersProof::prove(&public, &all, &power, random));
    proof.safe_primes = SafePrimesProof::prove(&group.private, &private, random)?;
    Ok(Definition {
        public,
        private,
        proof,
    })
}

/// The quadratic residues modulo n and their generator S.
struct Group {
    private: PrivateModulus,
    /// p'·q', the number of quadratic residues.
    order: Modulus,
    s: Element,
}

impl Group {
    fn new(
        primes: &SafePrimes,
        halves: &PrimaryPrivateKey,
        random: &mut Random,
    ) -> Result<Self, Error> {
        let private = PrivateModulus::new(&primes.p, &primes.q)?;
        let modulus = private.modulus();
        let s = loop {
            let root = random.below(modulus.value());
            let Ok(root) = modulus.element(&root) else {
                continue;
            };
            let s = modulus.square(&root);
            if generates(&modulus.integer(&s), modulus.value()) {
                break s;
            }
        };
        Ok(Self {
            order: Modulus::new(&Zeroizing::new(product(&halves.p, &halves.q)))?,
            private,
            s,
        })
    }

    /// An exponent from 2 to p'·q' - 2. (In the specification: x from 2 to p'q' - 1.)
    fn exponent(&self, random: &mut Random) -> Secret {
        let two = UBig::from(2_u8);
        let mut number = loop {
            let number = random.below(self.order.value());
            if number >= two {
                break number;
            }
        };
        let secret = Secret::from_public(&number, self.order.bits());
        number.zeroize();
        secret
    }

    fn power(&self, exponent: &Secret) -> UBig {
        let power = self.private.power(&self.s, exponent);
        self.private.modulus().integer(&power)
    }

    fn prove(
        &self,
        public: &PrimaryPublicKey,
        x_z: &Secret,
        exponents: &[(String, Secret)],
        random: &mut Random,
    ) -> KeyCorrectnessProof {
        let secrets = || std::iter::once(x_z).chain(exponents.iter().map(|(_, x)| x));
        let masks: Vec<Secret> = secrets().map(|_| self.exponent(random)).collect();
        let commitments: Vec<UBig> = masks.iter().map(|mask| self.power(mask)).collect();
        let bases = std::iter::once(&public.z).chain(public.r.values());
        let c = challenge::over(bases.chain(&commitments));
        // S^(p'·q') is 1, so a response is known only modulo p'·q', and a mask that is uniform there hides everything.
        let mut responses = secrets()
            .zip(&masks)
            .map(|(secret, mask)| self.order.rest(&secret.mul_public(&c).add(mask)));
        let xz_cap = responses.next().unwrap_or_default();
        let names = exponents.iter().map(|(name, _)| name.clone());
        KeyCorrectnessProof {
            xz_cap,
            xr_cap: names.zip(responses).collect(),
            c,
            powers_of_s: None,
            safe_primes: None,
            published: None,
        }
    }
}

/// Whether a quadratic residue generates all others: it is 1 modulo neither factor.
fn generates(s: &UBig, n: &UBig) -> bool {
    let less = less_one(s);
    less > UBig::ONE && less.gcd(n).is_one() && s.gcd(n).is_one()
}

fn check_names(attributes: &BTreeSet<String>) -> Result<(), Error> {
    if attributes.is_empty() {
        return Err(Error::Malformed {
            what: "the schema",
            why: "it has no attributes",
        });
    }
    if attributes.len() >= MAX_ATTRIBUTES {
        return Err(Error::TooLarge {
            what: "the number of attributes",
            limit: MAX_ATTRIBUTES.saturating_sub(1),
        });
    }
    if attributes.contains(LINK_SECRET) {
        return Err(Error::Malformed {
            what: "the schema",
            why: "an attribute has the link secret's name",
        });
    }
    Ok(())
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow"
)]
fn product(a: &UBig, b: &UBig) -> UBig {
    a * b
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "shifted to the right by one"
)]
fn half(number: &UBig) -> UBig {
    number >> 1_usize
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "a residue that the caller made is not zero"
)]
fn less_one(number: &UBig) -> UBig {
    if number.is_zero() {
        return UBig::ZERO;
    }
    number - UBig::ONE
}
