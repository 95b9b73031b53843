//! A document with its proofs, and their verification.

use std::borrow::Cow;
use std::collections::HashMap;

use selfsame_crypto::PublicKey;
use selfsame_crypto::json;
use serde_json::{Map, Value};

use crate::contexts::Contexts;
use crate::error::ChainError;
use crate::hash::{Hashed, hash_data};
use crate::proof::IntegrityProof;
use crate::rdfc::RdfcBudget;
use crate::suite::SignedForm;
use crate::{IntegrityError, LIMITS, PROOFS_MAX};

/// A document with its proofs, whose chains are whole.
#[derive(Clone, Debug)]
pub struct Secured {
    document: Map<String, Value>,
    proofs: Vec<IntegrityProof>,
    /// For each proof, the places of those that it builds on.
    previous: Vec<Vec<usize>>,
    /// The places of the proofs, each after those that it builds on.
    order: Vec<usize>,
}

impl Secured {
    /// Reads a document.
    ///
    /// # Errors
    /// [`IntegrityError::Json`] beyond [`LIMITS`], and those of [`Secured::of`].
    pub fn parse(bytes: &[u8]) -> Result<Self, IntegrityError> {
        Self::of(json::parse(bytes, &LIMITS)?)
    }

    /// Takes the proofs of a document, which was read within bounds.
    ///
    /// # Errors
    /// [`IntegrityError::Malformed`] without a proof or if one is malformed, [`IntegrityError::TooMany`] beyond
    /// [`PROOFS_MAX`], [`IntegrityError::Chain`] if their chain is not whole.
    pub fn of(value: Value) -> Result<Self, IntegrityError> {
        let Value::Object(mut document) = value else {
            return Err(IntegrityError::Malformed("the document"));
        };
        let proofs = proofs_of(document.remove("proof").as_ref())?;
        if proofs.is_empty() {
            return Err(IntegrityError::Malformed("proof"));
        }
        let previous = previous_of(&proofs)?;
        let order = ordered(&previous)?;
        Ok(Self {
            document,
            proofs,
            previous,
            order,
        })
    }

    /// The document without its proofs.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// Its proofs, in the document's order.
    pub fn proofs(&self) -> &[IntegrityProof] {
        &self.proofs
    }

    /// Verifies the signatures of all proofs with their keys, in the document's order; a proof whose key is `None` is
    /// refused. A proof that builds on others holds only if they hold (Data Integrity §4.5). The bound on the work on
    /// datasets is for all of them together.
    ///
    /// # Errors
    /// For each proof, why it does not hold. Whether the key may be used for the proof's purpose is for the caller to
    /// say, and whether the proof is the one that was asked for is for [`IntegrityProof::check`].
    pub fn verify(
        &self,
        keys: &[Option<PublicKey>],
        contexts: &Contexts,
    ) -> Vec<Result<(), IntegrityError>> {
        let mut results = vec![Err(IntegrityError::Signature); self.proofs.len()];
        let mut budget = RdfcBudget::new();
        for at in &self.order {
            let result = match keys.get(*at) {
                Some(Some(key)) => self.verify_one(
                    *at,
                    key,
                    Verified {
                        results: &results,
                        contexts,
                        budget: &mut budget,
                    },
                ),
                _ => Err(IntegrityError::Unsupported("a proof without a key")),
            };
            if let Some(place) = results.get_mut(*at) {
                *place = result;
            }
        }
        results
    }

    fn verify_one(
        &self,
        at: usize,
        key: &PublicKey,
        verified: Verified<'_>,
    ) -> Result<(), IntegrityError> {
        let proof = self
            .proofs
            .get(at)
            .ok_or(IntegrityError::Malformed("proof"))?;
        let previous = self.previous.get(at).map(Vec::as_slice).unwrap_or_default();
        let held = |at: &usize| verified.results.get(*at).is_some_and(Result::is_ok);
        if !previous.iter().all(held) {
            return Err(IntegrityError::Chain(ChainError::Unverified));
        }
        let mut document = Cow::Borrowed(&self.document);
        let before = previous.iter().filter_map(|at| self.proofs.get(*at));
        let before: Vec<Value> = before.map(|one| one.members.clone().into()).collect();
        if !before.is_empty() {
            let members = document.to_mut();
            members.insert("proof".to_owned(), before.into());
        }
        verify_signature(document, proof, key, verified)
    }
}

/// What a proof is verified with, beside its key.
struct Verified<'a> {
    results: &'a [Result<(), IntegrityError>],
    contexts: &'a Contexts,
    /// What is left of the work on datasets.
    budget: &'a mut RdfcBudget,
}

/// Reads the value of `proof`: one, or several.
pub(crate) fn proofs_of(value: Option<&Value>) -> Result<Vec<IntegrityProof>, IntegrityError> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(several)) if several.len() > PROOFS_MAX => {
            Err(IntegrityError::TooMany("proof"))
        }
        Some(Value::Array(several)) => several.iter().map(IntegrityProof::of).collect(),
        Some(one) => Ok(vec![IntegrityProof::of(one)?]),
    }
}

/// The places of the proofs that each proof builds on.
fn previous_of(proofs: &[IntegrityProof]) -> Result<Vec<Vec<usize>>, IntegrityError> {
    let mut places = HashMap::new();
    for (at, proof) in proofs.iter().enumerate() {
        if let Some(id) = &proof.id
            && places.insert(id.as_str(), at).is_some()
        {
            return Err(IntegrityError::Chain(ChainError::Ambiguous));
        }
    }
    let dangling = IntegrityError::Chain(ChainError::Dangling);
    let of_one = |proof: &IntegrityProof| {
        let names = proof.previous.iter();
        let mut found: Vec<usize> = names
            .map(|name| places.get(name.as_str()).copied())
            .collect::<Option<_>>()?;
        // They stand in the document's order, each once (Data Integrity §4.5, step 4.1).
        found.sort_unstable();
        found.dedup();
        Some(found)
    };
    let all: Option<Vec<_>> = proofs.iter().map(of_one).collect();
    all.ok_or(dangling)
}

/// The places in an order in which each proof comes after those that it builds on.
fn ordered(previous: &[Vec<usize>]) -> Result<Vec<usize>, IntegrityError> {
    let mut order: Vec<usize> = Vec::with_capacity(previous.len());
    while order.len() < previous.len() {
        let ready = |at: &usize| {
            let before = previous.get(*at).map(Vec::as_slice).unwrap_or_default();
            !order.contains(at) && before.iter().all(|one| order.contains(one))
        };
        let next: Vec<usize> = (0..previous.len()).filter(ready).collect();
        if next.is_empty() {
            return Err(IntegrityError::Chain(ChainError::Cycle));
        }
        order.extend(next);
    }
    Ok(order)
}

/// Verifies the signature of one proof over a document, which has the proofs that it builds on.
fn verify_signature(
    document: Cow<'_, Map<String, Value>>,
    proof: &IntegrityProof,
    key: &PublicKey,
    verified: Verified<'_>,
) -> Result<(), IntegrityError> {
    let suite = proof
        .suite
        .ok_or(IntegrityError::Unsupported("the cryptosuite"))?;
    let parts = suite.parts(key.key_type())?;
    if proof.value.len() != parts.signature_length {
        return Err(IntegrityError::Malformed("proofValue"));
    }
    let mut document = document;
    let mut options = proof.options();
    match suite.form() {
        SignedForm::Json => settle_context(&mut document, &options)?,
        // The options have the document's contexts, whatever the proof says (EdDSA Cryptosuites §3.2.5, step 5).
        SignedForm::Dataset => {
            let context = document.get("@context");
            let context = context.ok_or(IntegrityError::Malformed("@context"))?;
            options.insert("@context".to_owned(), context.clone());
        }
    }
    let hashed = Hashed {
        document: &document,
        options: &options,
        contexts: verified.contexts,
        budget: verified.budget,
    };
    let data = hash_data(hashed, suite, &parts)?;
    key.verify(parts.algorithm, &data, &proof.value)
        .map_err(|_| IntegrityError::Signature)
}

/// The document's contexts must begin with the proof's, which then take their place (EdDSA Cryptosuites §3.3.2, steps
/// 3 and 4).
fn settle_context(
    document: &mut Cow<'_, Map<String, Value>>,
    options: &Map<String, Value>,
) -> Result<(), IntegrityError> {
    let Some(own) = options.get("@context") else {
        return Ok(());
    };
    let of_document = document.get("@context");
    if of_document == Some(own) {
        return Ok(());
    }
    if !of_document
        .map(listed)
        .unwrap_or_default()
        .starts_with(listed(own))
    {
        return Err(IntegrityError::Malformed("@context"));
    }
    let members = document.to_mut();
    members.insert("@context".to_owned(), own.clone());
    Ok(())
}

fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(several) => several,
        one => std::slice::from_ref(one),
    }
}
