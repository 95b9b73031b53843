//! Checking the proof that an issuer's public key is well formed: that Z and every R are powers of S.

use std::collections::BTreeSet;

use dashu_int::{IBig, UBig};
use selfsame_bignum::{Base, Element, Term};

use super::correctness_data::KeyCorrectnessProof;
use super::key::{CredentialKey, KeyInUse};
use super::key_data::LINK_SECRET;
use super::{bounds, challenge};
use crate::Error;

impl CredentialKey {
    /// Checks every part of the proof that came with an offer, except the one of [`Self::check_safe_primes`]. A proof
    /// that was already verified costs a comparison. (AnonCreds v1.0, "Verifying the Key Correctness Proof".)
    ///
    /// # Errors
    /// [`Error::Issuer`] with the reason.
    pub fn check_correctness(&self, proof: &KeyCorrectnessProof) -> Result<(), Error> {
        self.check_usual(proof)?;
        let powers = proof.powers_of_s.as_ref();
        if powers.is_none() || powers == self.powers().get() {
            return Ok(());
        }
        if let Some(powers) = powers {
            powers.check(self.untouched(), self.public())?;
            let _ = self.powers().set(powers.clone());
        }
        Ok(())
    }

    /// Whether a proof has been verified that Z, Rctxt and every R are powers of S, whatever the modulus is. Without
    /// it, the issuer may be able to mark credentials so that all presentations of one show the mark.
    pub fn all_bases_are_proven(&self) -> bool {
        self.powers().get().is_some()
    }

    /// Checks the part of the proof that is about the primes, if present. It takes as much work as some hundred
    /// credentials, so it is done only on request. A part that was already verified costs a hash.
    ///
    /// # Errors
    /// [`Error::Issuer`] with the reason.
    pub fn check_safe_primes(&self, proof: &KeyCorrectnessProof) -> Result<(), Error> {
        let Some(primes) = &proof.safe_primes else {
            return Ok(());
        };
        let digest = primes.digest();
        if self.safe_primes().get() != Some(&digest) {
            primes.check(self.modulus())?;
            let _ = self.safe_primes().set(digest);
        }
        Ok(())
    }

    /// Whether a proof has been verified that the modulus is a product of two safe primes, or has powers of one prime
    /// in place of (p-1)/2 or (q-1)/2. Without it, third parties may be able to make credentials under its key.
    pub fn safe_primes_are_proven(&self) -> bool {
        self.safe_primes().get().is_some()
    }

    /// Checks the part in the specification: about Z and every R, up to factors of small order.
    fn check_usual(&self, proof: &KeyCorrectnessProof) -> Result<(), Error> {
        let known = self.proven().get();
        if known.is_some_and(|known| known.usual() == proof.usual()) {
            return Ok(());
        }
        check_shape(self, proof)?;
        let key = self.untouched();
        if commitments(key, proof)? != proof.c {
            return Err(Error::Issuer("the key correctness proof does not hold"));
        }
        // If another verified proof is already stored, it is kept: either will do.
        let _ = self.proven().set(proof.abridged(None));
        Ok(())
    }
}

/// Checks lengths, and that each R has one response. Without the link secret's response, its base might not be a power
/// of S, and a request would reveal the link secret.
fn check_shape(key: &CredentialKey, proof: &KeyCorrectnessProof) -> Result<(), Error> {
    let refusal = Error::Issuer("a number of the key correctness proof is too long");
    let longest = key.modulus().bits().saturating_add(bounds::CHALLENGE);
    bounds::at_most(&proof.c, bounds::CHALLENGE, refusal.clone())?;
    bounds::at_most(&proof.xz_cap, longest, refusal.clone())?;
    for (_, response) in &proof.xr_cap {
        bounds::at_most(response, longest, refusal.clone())?;
    }
    let covered: BTreeSet<&str> = proof.xr_cap.iter().map(|(name, _)| name.as_str()).collect();
    let attributes: BTreeSet<&str> = key.attributes().collect();
    if covered.len() != proof.xr_cap.len() || !covered.is_subset(&attributes) {
        return Err(Error::Issuer(
            "the key correctness proof has a response too many",
        ));
    }
    let mut missing = attributes.difference(&covered);
    match missing.next() {
        None => Ok(()),
        Some(name) if *name == LINK_SECRET => Err(Error::Issuer(
            "the key correctness proof leaves out the link secret",
        )),
        Some(_) => Err(Error::Issuer(
            "the key correctness proof leaves out an attribute",
        )),
    }
}

/// The challenge over Z, all R, and the commitments Z^-c · S^x̂, R^-c · S^x̂.
fn commitments(key: KeyInUse<'_>, proof: &KeyCorrectnessProof) -> Result<UBig, Error> {
    let modulus = key.modulus();
    let mut proven = vec![(key.z_element(), &proof.xz_cap)];
    for (name, response) in &proof.xr_cap {
        let found = key.r_elements().find(|(attribute, _)| attribute == name);
        let (_, element) = found.ok_or(Error::Issuer("the key lacks an attribute"))?;
        proven.push((element, response));
    }
    let bases: Vec<Element> = proven.iter().map(|(base, _)| (*base).clone()).collect();
    let inverses = modulus.inverse_all(&bases)?;
    let c = IBig::from(proof.c.clone());
    let mut hashed: Vec<UBig> = bases.iter().map(|base| modulus.integer(base)).collect();
    for ((_, response), inverse) in proven.into_iter().zip(&inverses) {
        let response = IBig::from(response.clone());
        let commitment = modulus.power(&[
            Term {
                base: Base::Variable(inverse),
                exponent: &c,
            },
            Term {
                base: key.s(),
                exponent: &response,
            },
        ])?;
        hashed.push(modulus.integer(&commitment));
    }
    Ok(challenge::over(&hashed))
}
