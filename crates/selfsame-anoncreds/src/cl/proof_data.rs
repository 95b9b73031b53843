//! The mathematical content of a presentation: one sub-proof for each credential, and the aggregated proof.

use std::collections::BTreeMap;

use dashu_int::{IBig, UBig};
use serde::{Deserialize, Serialize};

use super::decimal;
use super::key_data::LINK_SECRET;
use super::revocation::NonRevocProof;

/// The `proof` of a presentation. (AnonCreds v1.0, "Generate Presentation".)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// One sub-proof for each credential.
    pub(crate) proofs: Vec<SubProof>,
    /// The challenge that all sub-proofs answer.
    pub(crate) aggregated_proof: AggregatedProof,
}

/// The proofs about one credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubProof {
    pub(crate) primary_proof: PrimaryProof,
    pub(crate) non_revoc_proof: Option<NonRevocProof>,
}

/// The challenge, and the blinded values it covers, in order: for each sub-proof those of the non-revocation part, A',
/// and for each predicate T₀, T₁, T₂, T₃, T_Δ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregatedProof {
    #[serde(with = "decimal")]
    pub(crate) c_hash: UBig,
    pub(crate) c_list: Vec<Vec<u8>>,
}

/// The proof that the holder has a signature over values of which some are revealed and some satisfy predicates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimaryProof {
    pub(crate) eq_proof: EqualityProof,
    #[serde(rename = "ge_proofs")]
    pub(crate) predicate_proofs: Vec<PredicateProof>,
}

/// The equality proof. (AnonCreds v1.0, "Generate the Presentation".)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "EqualityAsRead")]
pub struct EqualityProof {
    /// Encoded values of revealed attributes.
    #[serde(with = "decimal::map")]
    pub(crate) revealed_attrs: BTreeMap<String, IBig>,
    /// A' = A · S^r.
    #[serde(with = "decimal")]
    pub(crate) a_prime: UBig,
    #[serde(with = "decimal")]
    pub(crate) e: UBig,
    #[serde(with = "decimal")]
    pub(crate) v: UBig,
    /// Responses for the attributes that are not revealed, the link secret among them.
    #[serde(with = "decimal::map")]
    pub(crate) m: BTreeMap<String, UBig>,
    #[serde(with = "decimal")]
    pub(crate) m2: UBig,
}

/// [`EqualityProof`] with the member that the Indy era had for the link secret's response.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EqualityAsRead {
    #[serde(with = "decimal::map")]
    revealed_attrs: BTreeMap<String, IBig>,
    #[serde(with = "decimal")]
    a_prime: UBig,
    #[serde(with = "decimal")]
    e: UBig,
    #[serde(with = "decimal")]
    v: UBig,
    #[serde(with = "decimal::map")]
    m: BTreeMap<String, UBig>,
    #[serde(default, with = "decimal")]
    m1: UBig,
    #[serde(with = "decimal")]
    m2: UBig,
}

impl TryFrom<EqualityAsRead> for EqualityProof {
    type Error = &'static str;

    fn try_from(mut read: EqualityAsRead) -> Result<Self, Self::Error> {
        let repeated =
            !read.m1.is_zero() && read.m.insert(LINK_SECRET.to_owned(), read.m1).is_some();
        if repeated {
            return Err("the link secret has two responses");
        }
        Ok(Self {
            revealed_attrs: read.revealed_attrs,
            a_prime: read.a_prime,
            e: read.e,
            v: read.v,
            m: read.m,
            m2: read.m2,
        })
    }
}

/// The proof of one predicate: that the difference Δ is a sum of four squares. (AnonCreds v1.0, "Generate the
/// Presentation", predicate part.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredicateProof {
    pub(crate) u: Four,
    pub(crate) r: FourAndDelta,
    #[serde(with = "decimal")]
    pub(crate) mj: UBig,
    #[serde(with = "decimal")]
    pub(crate) alpha: UBig,
    pub(crate) t: FourAndDelta,
    pub(crate) predicate: Predicate,
}

/// One number for each of the four squares, under the names "0" to "3".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Named", into = "Named")]
pub(crate) struct Four(pub(crate) [UBig; 4]);

/// One number for each of the four squares, and one for Δ under the name "DELTA".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Named", into = "Named")]
pub(crate) struct FourAndDelta {
    pub(crate) squares: [UBig; 4],
    pub(crate) delta: UBig,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Named(#[serde(with = "decimal::map")] BTreeMap<String, UBig>);

const SQUARES: [&str; 4] = ["0", "1", "2", "3"];
const DELTA: &str = "DELTA";

impl Named {
    fn new(squares: [UBig; 4]) -> Self {
        let names = SQUARES.into_iter().map(str::to_owned);
        Self(names.zip(squares).collect())
    }

    fn take(&mut self, name: &str) -> Result<UBig, &'static str> {
        self.0
            .remove(name)
            .ok_or("a number of a predicate is missing")
    }

    fn squares(&mut self) -> Result<[UBig; 4], &'static str> {
        let [a, b, c, d] = SQUARES.map(|name| self.take(name));
        Ok([a?, b?, c?, d?])
    }

    fn end(self) -> Result<(), &'static str> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err("a predicate has a number too many")
        }
    }
}

impl TryFrom<Named> for Four {
    type Error = &'static str;

    fn try_from(mut named: Named) -> Result<Self, Self::Error> {
        let squares = named.squares()?;
        named.end()?;
        Ok(Self(squares))
    }
}

impl From<Four> for Named {
    fn from(four: Four) -> Self {
        Self::new(four.0)
    }
}

impl TryFrom<Named> for FourAndDelta {
    type Error = &'static str;

    fn try_from(mut named: Named) -> Result<Self, Self::Error> {
        let squares = named.squares()?;
        let delta = named.take(DELTA)?;
        named.end()?;
        Ok(Self { squares, delta })
    }
}

impl From<FourAndDelta> for Named {
    fn from(numbers: FourAndDelta) -> Self {
        let mut named = Self::new(numbers.squares);
        named.0.insert(DELTA.to_owned(), numbers.delta);
        named
    }
}

/// A predicate: a comparison of an attribute with a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// The attribute, by its normalised name.
    pub attr_name: String,
    /// The comparison operator.
    pub p_type: PredicateType,
    /// The number that the attribute is compared with.
    pub value: i32,
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PredicateType {
    /// `>=`
    #[serde(rename = "GE")]
    AtLeast,
    /// `<=`
    #[serde(rename = "LE")]
    AtMost,
    /// `>`
    #[serde(rename = "GT")]
    Above,
    /// `<`
    #[serde(rename = "LT")]
    Below,
}
