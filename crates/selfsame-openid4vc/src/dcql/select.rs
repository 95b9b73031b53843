//! The wallet's side: which held credentials answer a query, with which claims, and what is missing.

use std::collections::BTreeSet;

use selfsame_credential::ClaimPath;

use super::{
    matching::{self, Candidate, Mismatch},
    query::{CredentialQuery, DcqlQuery},
};

/// The answers that a wallet could give.
#[derive(Clone, Debug)]
pub struct Selection<Id> {
    /// For each credential query, in the verifier's order, the matching credentials.
    pub queries: Vec<QueryMatches<Id>>,
    /// For each set of the query's requirements, the options that can be satisfied.
    pub sets: Vec<SetMatches>,
}

/// The credentials that match one credential query.
#[derive(Clone, Debug)]
pub struct QueryMatches<Id> {
    /// The credential query's identifier.
    pub query: String,
    /// Whether more than one of the matches may be returned.
    pub multiple: bool,
    /// Whether the holder must prove possession of a key; if not, no proof is given.
    pub holder_binding: bool,
    /// The matching credentials, in the order in which they were given.
    pub matches: Vec<Match<Id>>,
    /// If none matches, the reason for the closest one.
    pub mismatch: Option<Mismatch>,
}

/// A credential that matches a credential query.
#[derive(Clone, Debug)]
pub struct Match<Id> {
    /// The credential.
    pub id: Id,
    /// The chosen claim set, if the query has claim sets.
    pub claim_set: Option<usize>,
    /// The requested places, each with everything below it. They contain no wildcards; claims that are always disclosed
    /// are listed too.
    pub reveal: Vec<ClaimPath>,
    /// Of these places, those that the verifier means to keep (OpenID4VP 1.0 §B.2.4).
    pub kept: Vec<ClaimPath>,
    /// Whether the format has no selective disclosure, so that every claim leaves the wallet whatever is requested.
    pub whole: bool,
}

/// The options of a credential set that can be satisfied.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SetMatches {
    /// Whether the verifier requires one of the options.
    pub required: bool,
    /// The options that can be satisfied, in the verifier's order, each a list of credential query identifiers.
    pub options: Vec<Vec<String>>,
}

/// Finds the credentials that answer the query (OpenID4VP 1.0 §6.4). The choice among them is made by the holder, or by
/// [`Selection::first_choice`].
pub fn select<Id: Clone>(query: &DcqlQuery, held: &[(Id, Candidate<'_>)]) -> Selection<Id> {
    let queries: Vec<_> = query
        .credentials()
        .iter()
        .map(|credential| {
            let mut found = QueryMatches {
                query: credential.id.clone(),
                multiple: credential.multiple,
                holder_binding: credential.require_cryptographic_holder_binding,
                matches: Vec::new(),
                mismatch: Some(Mismatch::Format),
            };
            for (id, candidate) in held {
                match matching::matches(credential, candidate) {
                    Ok(chosen) => found.matches.push(Match {
                        id: id.clone(),
                        claim_set: chosen.claim_set,
                        kept: kept(credential, &chosen.reveal),
                        reveal: chosen.reveal,
                        whole: !candidate.format.describe().discloses_selectively,
                    }),
                    Err(mismatch) => found.came_as_close_as(mismatch),
                }
            }
            if !found.matches.is_empty() {
                found.mismatch = None;
            }
            found
        })
        .collect();
    let can_be_had = |id: &String| {
        queries
            .iter()
            .any(|found| found.query == *id && !found.matches.is_empty())
    };
    let sets = query
        .requirements()
        .into_iter()
        .map(|mut set| {
            set.options.retain(|option| option.iter().all(can_be_had));
            SetMatches {
                required: set.required,
                options: set.options,
            }
        })
        .collect();
    Selection { queries, sets }
}

fn kept(query: &CredentialQuery, reveal: &[ClaimPath]) -> Vec<ClaimPath> {
    let kept = reveal.iter().filter(|place| query.is_kept(place));
    kept.cloned().collect()
}

impl SetMatches {
    /// Whether an answer to these credential queries satisfies it.
    pub fn is_satisfied_by(&self, answered: &BTreeSet<&str>) -> bool {
        self.options.iter().any(|option| is_among(option, answered))
    }

    /// Whether the answered credential queries satisfy this set. One option is enough (OpenID4VP 1.0 §6.4.2), so a
    /// second answered option is too much unless it is part of a longer answered one.
    pub fn needs(&self, query: &str, answered: &BTreeSet<&str>) -> bool {
        let (with, without): (Vec<_>, Vec<_>) = self
            .options
            .iter()
            .filter(|option| is_among(option, answered))
            .partition(|option| option.iter().any(|id| id == query));
        let is_part = |shorter: &Vec<String>| {
            with.iter()
                .any(|longer| shorter.iter().all(|id| longer.contains(id)))
        };
        !with.is_empty() && without.into_iter().all(is_part)
    }
}

fn is_among(option: &[String], answered: &BTreeSet<&str>) -> bool {
    option.iter().all(|id| answered.contains(id.as_str()))
}

impl<Id> QueryMatches<Id> {
    fn came_as_close_as(&mut self, mismatch: Mismatch) {
        let closer = match (&self.mismatch, &mismatch) {
            (Some(Mismatch::Claims(before)), Mismatch::Claims(now)) => now.len() < before.len(),
            (before, now) => before.as_ref() < Some(now),
        };
        if closer {
            self.mismatch = Some(mismatch);
        }
    }
}

impl<Id> Selection<Id> {
    /// Whether every required set can be satisfied. If not, nothing may be returned (OpenID4VP 1.0 §6.4.2).
    pub fn is_satisfiable(&self) -> bool {
        self.sets
            .iter()
            .all(|set| !set.required || !set.options.is_empty())
    }

    /// The matches for a credential query.
    pub fn query(&self, id: &str) -> Option<&QueryMatches<Id>> {
        self.queries.iter().find(|found| found.query == id)
    }

    /// The verifier's preferred option of every required set, and of the optional sets too if they are to be included.
    /// Each credential query is answered by its first match, and redundant queries are left out. `None` if a required
    /// set can't be satisfied.
    pub fn first_choice(&self, optional_too: bool) -> Option<Vec<(&str, &Match<Id>)>> {
        if !self.is_satisfiable() {
            return None;
        }
        let served = || self.sets.iter().filter(|set| set.required || optional_too);
        let mut wanted: BTreeSet<&str> = served()
            .filter_map(|set| set.options.first())
            .flatten()
            .map(String::as_str)
            .collect();
        for found in self.queries.iter().rev() {
            if !served().any(|set| set.needs(&found.query, &wanted)) {
                wanted.remove(found.query.as_str());
            }
        }
        let choice = self
            .queries
            .iter()
            .filter(|found| wanted.contains(found.query.as_str()))
            .filter_map(|found| Some((found.query.as_str(), found.matches.first()?)))
            .collect();
        Some(choice)
    }

    /// Whether every answer needs this credential query: each option of a required set contains it.
    pub fn is_required(&self, query: &str) -> bool {
        let has = |option: &Vec<String>| option.iter().any(|id| id == query);
        self.sets
            .iter()
            .filter(|set| set.required && !set.options.is_empty())
            .any(|set| set.options.iter().all(has))
    }

    /// The credential queries without a match, and the reasons. Only for the holder.
    pub fn missing(&self) -> impl Iterator<Item = (&str, &Mismatch)> {
        self.queries
            .iter()
            .filter_map(|found| Some((found.query.as_str(), found.mismatch.as_ref()?)))
    }
}
