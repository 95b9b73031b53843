//! The hashes of blank nodes: by their own quads (RDF Dataset Canonicalization §4.6), and by those of their
//! neighbours (§4.7, §4.8).

use std::collections::BTreeMap;

use selfsame_crypto::encoding::hex_encode;

use crate::IntegrityError;
use crate::rdf::{Blank, Dataset, RdfQuad, RdfTerm};
use crate::suite::SuiteDigest;

use super::budget::RdfcBudget;
use super::issuer::BlankNames;
use super::permutations::Permutations;

/// Blank nodes of one dataset, at most.
const BLANKS_MAX: u32 = 4096;

/// The quads and the first hash of each blank node.
pub(super) struct Neighbours<'d> {
    dataset: &'d Dataset,
    digest: SuiteDigest,
    /// For each blank node, the places of its quads.
    quads: Vec<Vec<usize>>,
    first: Vec<String>,
}

impl<'d> Neighbours<'d> {
    pub fn new(dataset: &'d Dataset, digest: SuiteDigest) -> Result<Self, IntegrityError> {
        if dataset.blanks > BLANKS_MAX {
            return Err(IntegrityError::TooMany("blank nodes"));
        }
        let mut quads = vec![Vec::new(); dataset.blanks as usize];
        for (at, quad) in dataset.quads.iter().enumerate() {
            for blank in blanks_of(quad) {
                let own: Option<&mut Vec<usize>> = quads.get_mut(blank as usize);
                if let Some(own) = own.filter(|own| own.last() != Some(&at)) {
                    own.push(at);
                }
            }
        }
        let mut neighbours = Self {
            dataset,
            digest,
            quads,
            first: Vec::new(),
        };
        let first = (0..dataset.blanks).map(|blank| neighbours.first_hash(blank));
        neighbours.first = first.collect();
        Ok(neighbours)
    }

    /// The hash of a node's own quads.
    pub fn first(&self, blank: Blank) -> &str {
        let hash = self.first.get(blank as usize);
        hash.map(String::as_str).unwrap_or_default()
    }

    /// §4.6.3.
    fn first_hash(&self, blank: Blank) -> String {
        let mut lines: Vec<String> = Vec::new();
        for quad in self.quads_of(blank) {
            let mut line = String::with_capacity(160);
            quad.write(&mut line, &mut |other, line| {
                line.push(if other == blank { 'a' } else { 'z' });
            });
            lines.push(line);
        }
        // Two may be alike, and count twice.
        lines.sort_unstable();
        self.hash(lines.concat().as_bytes())
    }

    fn quads_of(&self, blank: Blank) -> impl Iterator<Item = &'d RdfQuad> {
        let places = self.quads.get(blank as usize);
        let places = places.map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|at| self.dataset.quads.get(*at))
    }

    fn hash(&self, bytes: &[u8]) -> String {
        hex_encode(&self.digest.of(bytes))
    }
}

fn blanks_of(quad: &RdfQuad) -> impl Iterator<Item = Blank> {
    let places = quad.places().into_iter();
    places.filter_map(|(term, _)| term.and_then(RdfTerm::blank))
}

/// A hash of a node, and the identifiers that were given on the way to it.
pub(super) struct BlankPath {
    pub hash: String,
    pub issuer: BlankNames,
}

/// The neighbours of nodes, of which some have their canonical identifier already.
pub(super) struct BlankSearch<'n, 'd> {
    pub neighbours: &'n Neighbours<'d>,
    pub canonical: &'n BlankNames,
}

impl BlankSearch<'_, '_> {
    /// Hash N-degree quads (§4.8.3).
    pub fn hash(
        &self,
        blank: Blank,
        issuer: BlankNames,
        budget: &mut RdfcBudget,
    ) -> Result<BlankPath, IntegrityError> {
        budget.enter()?;
        let mut issuer = issuer;
        let mut data = String::new();
        for (hash, related) in self.related(blank, &issuer, budget)? {
            data.push_str(&hash);
            let chosen = self.chosen(related, &issuer, budget)?;
            data.push_str(&chosen.hash);
            issuer = chosen.issuer;
        }
        budget.spend(data.len())?;
        budget.leave();
        let hash = self.neighbours.hash(data.as_bytes());
        Ok(BlankPath { hash, issuer })
    }

    /// The neighbours of a node by the hash of how they are related to it (§4.8.3, steps 1 to 3).
    fn related(
        &self,
        blank: Blank,
        issuer: &BlankNames,
        budget: &mut RdfcBudget,
    ) -> Result<BTreeMap<String, Vec<Blank>>, IntegrityError> {
        let mut related: BTreeMap<String, Vec<Blank>> = BTreeMap::new();
        for quad in self.neighbours.quads_of(blank) {
            for (term, place) in quad.places() {
                let Some(other) = term
                    .and_then(RdfTerm::blank)
                    .filter(|other| *other != blank)
                else {
                    continue;
                };
                let text = self.relation(other, quad, place, issuer);
                budget.spend(text.len().saturating_add(64))?;
                let hash = self.neighbours.hash(text.as_bytes());
                related.entry(hash).or_default().push(other);
            }
        }
        Ok(related)
    }

    /// Hash related blank node, before it is hashed (§4.7.3).
    fn relation(&self, other: Blank, quad: &RdfQuad, place: &str, issuer: &BlankNames) -> String {
        let mut text = place.to_owned();
        if place != "g" {
            text.push('<');
            text.push_str(&quad.predicate);
            text.push('>');
        }
        if self.canonical.has(other) {
            text.push_str("_:");
            self.canonical.write(other, &mut text);
        } else if issuer.has(other) {
            text.push_str("_:");
            issuer.write(other, &mut text);
        } else {
            text.push_str(self.neighbours.first(other));
        }
        text
    }

    /// The least path through these nodes in any order (§4.8.3, steps 5.3 and 5.4). Its `hash` is the path itself.
    fn chosen(
        &self,
        nodes: Vec<Blank>,
        issuer: &BlankNames,
        budget: &mut RdfcBudget,
    ) -> Result<BlankPath, IntegrityError> {
        let mut chosen: Option<BlankPath> = None;
        let mut orders = Permutations::new(nodes);
        while let Some(order) = orders.next() {
            let best = chosen.as_ref().map(|path| path.hash.as_str());
            budget.spend(issuer.size().saturating_add(64))?;
            if let Some(path) = self.walked(order, issuer.clone(), WalkSoFar { best, budget })? {
                chosen = Some(path);
            }
        }
        Ok(chosen.unwrap_or_else(|| BlankPath {
            hash: String::new(),
            issuer: issuer.clone(),
        }))
    }

    /// The path through the nodes in this order; `None` as soon as it cannot be less than the best (steps 5.4.4 to
    /// 5.4.6).
    fn walked(
        &self,
        order: &[Blank],
        issuer: BlankNames,
        walk: WalkSoFar<'_, '_>,
    ) -> Result<Option<BlankPath>, IntegrityError> {
        let mut issuer = issuer;
        let mut text = String::new();
        let mut further = Vec::new();
        for other in order {
            text.push_str("_:");
            if self.canonical.has(*other) {
                self.canonical.write(*other, &mut text);
            } else {
                if !issuer.has(*other) {
                    further.push(*other);
                }
                issuer.issue(*other);
                issuer.write(*other, &mut text);
            }
            if walk.is_lost(&text) {
                return Ok(None);
            }
        }
        for other in further {
            let path = self.hash(other, issuer.clone(), walk.budget)?;
            text.push_str("_:");
            // It has its number since the loop above, in the issuer before the path as in the one after it.
            issuer.write(other, &mut text);
            text.push('<');
            text.push_str(&path.hash);
            text.push('>');
            issuer = path.issuer;
            walk.budget
                .spend(text.len().saturating_add(issuer.size()))?;
            if walk.is_lost(&text) {
                return Ok(None);
            }
        }
        let is_less = walk.best.is_none_or(|best| text.as_str() < best);
        Ok(is_less.then_some(BlankPath { hash: text, issuer }))
    }
}

/// The best path so far, and what may still be spent.
struct WalkSoFar<'b, 'w> {
    best: Option<&'b str>,
    budget: &'w mut RdfcBudget,
}

impl WalkSoFar<'_, '_> {
    fn is_lost(&self, text: &str) -> bool {
        let best = self.best.unwrap_or_default();
        !best.is_empty() && text.len() >= best.len() && text > best
    }
}
