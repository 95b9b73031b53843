//! A minimal equality proof beside a non-revocation proof, for tests that need both.

use std::collections::BTreeMap;

use dashu_int::fast_div::ConstDivisor;
use dashu_int::modular::Reduced;
use dashu_int::{IBig, UBig};
use serde_json::{Value, json};

use super::number;

/// T, from the responses of a proof.
pub(super) fn t(key: &Value, proof: &Value, challenge: &UBig) -> Vec<u8> {
    let n = ConstDivisor::new(number(&key["n"]));
    let power = |base: &Value, exponent: &Value| n.reduce(number(base)).pow(&number(exponent));
    let mut known: Reduced<'_> = n.reduce(number(&proof["a_prime"])).pow(&offset());
    for (name, value) in proof["revealed_attrs"].as_object().unwrap() {
        known *= power(&key["r"][name], value);
    }
    let mut t = (n.reduce(number(&key["z"])) / known)
        .pow(challenge)
        .inv()
        .unwrap()
        * power(&proof["a_prime"], &proof["e"])
        * power(&key["s"], &proof["v"])
        * power(&key["rctxt"], &proof["m2"]);
    for (name, value) in proof["m"].as_object().unwrap() {
        t *= power(&key["r"][name], value);
    }
    t.residue().to_be_bytes().into()
}

/// A proof that reveals nothing and is waiting for its challenge. Its masks are not secret, since it is for tests.
pub(super) struct Equality {
    signature: Value,
    values: BTreeMap<String, UBig>,
    a_prime: UBig,
    blinding: UBig,
    t: UBig,
}

impl Equality {
    pub(super) fn new(key: &Value, signature: Value, values: BTreeMap<String, UBig>) -> Self {
        let n = ConstDivisor::new(number(&key["n"]));
        let power = |base: &Value, exponent: &UBig| n.reduce(number(base)).pow(exponent);
        let blinding = (UBig::ONE << 2000) + UBig::from(12345_u32);
        let a_prime = n.reduce(number(&signature["a"])) * power(&key["s"], &blinding);
        let mut t = a_prime.pow(&mask(455))
            * power(&key["s"], &mask(3059))
            * power(&key["rctxt"], &mask(2431));
        for name in values.keys() {
            t *= power(&key["r"][name], &mask(592));
        }
        let (a_prime, t) = (a_prime.residue(), t.residue());
        Self {
            signature,
            values,
            a_prime,
            blinding,
            t,
        }
    }

    pub(super) fn m2_mask() -> UBig {
        mask(2431)
    }

    pub(super) fn c_value(&self) -> Vec<u8> {
        self.a_prime.to_be_bytes().into()
    }

    pub(super) fn t_value(&self) -> Vec<u8> {
        self.t.to_be_bytes().into()
    }

    pub(super) fn respond(&self, challenge: &UBig) -> Value {
        let response =
            |bits, secret: IBig| (IBig::from(mask(bits)) + challenge * secret).to_string();
        let secret = |name: &str| IBig::from(number(&self.signature[name]));
        let m: BTreeMap<_, _> = self
            .values
            .iter()
            .map(|(name, value)| (name, response(592, value.clone().into())))
            .collect();
        json!({
            "eq_proof": {
                "revealed_attrs": {},
                "a_prime": self.a_prime.to_string(),
                "e": response(455, secret("e") - IBig::from(offset())),
                "v": response(3059, secret("v") - secret("e") * IBig::from(self.blinding.clone())),
                "m": m,
                "m2": response(2431, secret("m_2")),
            },
            "ge_proofs": [],
        })
    }
}

/// The start of the range of e.
fn offset() -> UBig {
    UBig::ONE << 596
}

fn mask(bits: usize) -> UBig {
    (UBig::ONE << bits) + UBig::from(bits)
}
