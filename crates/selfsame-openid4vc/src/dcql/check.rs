//! The verifier's side: whether an answer satisfies the query.

use std::collections::BTreeMap;

use super::{
    matching::{self, Candidate, Mismatch},
    query::{CredentialQuery, DcqlQuery},
};

/// A verifier's result for an answer that satisfies its query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CheckedAnswer {
    /// For each answered credential query, the positions of the accepted presentations.
    pub accepted: BTreeMap<String, Vec<usize>>,
    /// The presentations that were discarded although they are genuine, and the reasons.
    pub discarded: Vec<(String, usize, Mismatch)>,
}

/// Why an answer as a whole is refused (OpenID4VP 1.0 §8.1, §8.6).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unmet {
    /// An answer to a credential query that was not requested.
    #[error("the answer has a credential query that was not requested")]
    UnknownQuery,
    /// An entry without presentations.
    #[error("no presentation for credential query `{0}`")]
    Empty(String),
    /// Several presentations where one was requested.
    #[error("several presentations for credential query `{0}`")]
    NotMultiple(String),
    /// No option of a required set is answered by accepted presentations.
    #[error("no acceptable combination of credentials (requirement {set})")]
    Incomplete {
        /// The position of the set among the query's requirements.
        set: usize,
        /// The genuine presentations that were discarded, and the reasons.
        discarded: Vec<(String, usize, Mismatch)>,
    },
}

/// Why a presentation does not answer this credential query, as a verifier sees it; `None` if it does.
pub fn mismatch(query: &CredentialQuery, candidate: &Candidate<'_>) -> Option<Mismatch> {
    matching::matches(query, candidate).err()
}

/// Checks an answer, given by credential query, against the query (OpenID4VP 1.0 §8.6).
///
/// Each presentation is given as the result of its own verification: `None` if that failed. Such a presentation, or one
/// that does not match its credential query, is discarded; the answer is refused if it is then incomplete. `values` are
/// enforced too, since the wallet need not have enforced them.
pub fn check(
    query: &DcqlQuery,
    answered: &BTreeMap<String, Vec<Option<Candidate<'_>>>>,
) -> Result<CheckedAnswer, Unmet> {
    let mut accepted = BTreeMap::new();
    let mut discarded = Vec::new();
    for (id, presentations) in answered {
        let credential = query.credential(id).ok_or(Unmet::UnknownQuery)?;
        match presentations.len() {
            0 => return Err(Unmet::Empty(id.clone())),
            1 => {}
            _ if credential.multiple => {}
            _ => return Err(Unmet::NotMultiple(id.clone())),
        }
        let mut counting = Vec::new();
        for (position, presentation) in presentations.iter().enumerate() {
            let Some(candidate) = presentation else {
                continue;
            };
            match matching::matches(credential, candidate) {
                Ok(_) => counting.push(position),
                Err(mismatch) => discarded.push((id.clone(), position, mismatch)),
            }
        }
        if !counting.is_empty() {
            accepted.insert(id.clone(), counting);
        }
    }
    for (position, set) in query.requirements().iter().enumerate() {
        let complete = |option: &Vec<String>| option.iter().all(|id| accepted.contains_key(id));
        if set.required && !set.options.iter().any(complete) {
            return Err(Unmet::Incomplete {
                set: position,
                discarded,
            });
        }
    }
    Ok(CheckedAnswer {
        accepted,
        discarded,
    })
}
