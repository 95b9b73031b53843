//! RDFC-1.0: a dataset in canonical form (RDF Dataset Canonicalization). The work is bounded: datasets can be made in
//! which telling blank nodes apart takes time that grows exponentially (§7.1).

mod budget;
mod issuer;
mod neighbours;
mod permutations;

use std::collections::BTreeMap;

use crate::IntegrityError;
use crate::rdf::{Blank, Dataset};
use crate::suite::SuiteDigest;

pub(crate) use budget::RdfcBudget;
use issuer::BlankNames;
use neighbours::Neighbours;

/// The canonical lines of a dataset.
///
/// # Errors
/// [`IntegrityError::Transformation`] if its blank nodes cannot be told apart within the bound on the work.
pub(crate) fn canonical(dataset: &Dataset, digest: SuiteDigest) -> Result<String, IntegrityError> {
    canonical_within(dataset, digest, &mut RdfcBudget::new())
}

/// The canonical lines of a dataset, by what is left of the work for several.
///
/// # Errors
/// As [`canonical`].
pub(crate) fn canonical_within(
    dataset: &Dataset,
    digest: SuiteDigest,
    budget: &mut RdfcBudget,
) -> Result<String, IntegrityError> {
    budget.begin();
    let issuer = issued(dataset, digest, budget)?;
    let mut lines: Vec<String> = Vec::with_capacity(dataset.quads.len());
    for quad in &dataset.quads {
        let mut line = String::with_capacity(160);
        quad.write(&mut line, &mut |blank, line| issuer.write(blank, line));
        lines.push(line);
    }
    // UTF-8 sorts as code points do.
    lines.sort_unstable();
    Ok(lines.concat())
}

/// The canonical identifiers of the blank nodes (§4.4.3).
fn issued(
    dataset: &Dataset,
    digest: SuiteDigest,
    budget: &mut RdfcBudget,
) -> Result<BlankNames, IntegrityError> {
    let mut canonical = BlankNames::new("c14n", dataset.blanks);
    if dataset.blanks == 0 {
        return Ok(canonical);
    }
    let neighbours = Neighbours::new(dataset, digest)?;
    let mut same: BTreeMap<&str, Vec<Blank>> = BTreeMap::new();
    for blank in 0..dataset.blanks {
        same.entry(neighbours.first(blank)).or_default().push(blank);
    }
    for blanks in same.values() {
        if let [only] = blanks.as_slice() {
            canonical.issue(*only);
        }
    }
    for blanks in same.into_values().filter(|blanks| blanks.len() > 1) {
        let mut paths = Vec::with_capacity(blanks.len());
        for blank in blanks {
            if canonical.has(blank) {
                continue;
            }
            budget.spend(canonical.size())?;
            let mut temporary = BlankNames::new("b", dataset.blanks);
            temporary.issue(blank);
            let around = neighbours::BlankSearch {
                neighbours: &neighbours,
                canonical: &canonical,
            };
            paths.push(around.hash(blank, temporary, budget)?);
        }
        paths.sort_by(|left, right| left.hash.cmp(&right.hash));
        for path in paths {
            for blank in path.issuer.order() {
                canonical.issue(*blank);
            }
        }
    }
    Ok(canonical)
}

#[cfg(test)]
pub(crate) mod tests;
