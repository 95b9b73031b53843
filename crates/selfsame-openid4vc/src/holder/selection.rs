//! Finds the credentials that match a request, and checks whether a choice among them, by a person or a policy,
//! satisfies it (OpenID4VP 1.0 §6.4).

use std::collections::BTreeSet;

use selfsame_credential::Held;

use crate::{
    dcql::{Candidate, Match, Selection, authority_keys},
    error::Error,
};

/// A held credential as a candidate for a query; `provable` says whether the wallet has the key it is bound to.
pub fn candidate(held: &Held, provable: bool) -> Candidate<'_> {
    Candidate {
        format: held.format,
        types: held.asked_types(),
        claims: held.claims(),
        withheld: None,
        holder_bound: provable && held.is_holder_bound(),
        authority_keys: authority_keys(held.header().x5c.as_deref().unwrap_or_default()),
    }
}

/// The choice of a policy instead of a person: the verifier's preferred options. Optional credentials are included only
/// if all of them are optional.
pub fn by_policy<Id>(selection: &Selection<Id>) -> Result<Vec<(&str, &Match<Id>)>, Error> {
    let chosen = |optional_too| {
        let choice = selection.first_choice(optional_too);
        choice.filter(|choice| !choice.is_empty())
    };
    chosen(false).or_else(|| chosen(true)).ok_or(Error::Choice(
        "no credentials in this wallet satisfy the request",
    ))
}

/// Checks a person's choice, given as pairs of credential query and credential: it must satisfy the request and contain
/// no more than that.
pub fn explicit<'s, Id: PartialEq>(
    selection: &'s Selection<Id>,
    chosen: &[(&str, Id)],
) -> Result<Vec<(&'s str, &'s Match<Id>)>, Error> {
    let mut answer: Vec<(&str, &Match<Id>)> = Vec::with_capacity(chosen.len());
    let mut answered = BTreeSet::new();
    for (query, id) in chosen {
        let found = selection.query(query).ok_or(Error::Choice(
            "a credential query is answered that was not requested",
        ))?;
        let matching = found
            .matches
            .iter()
            .find(|matching| matching.id == *id)
            .ok_or(Error::Choice("a credential was chosen that does not match"))?;
        let twice = answer
            .iter()
            .any(|(other, before)| other == query && before.id == *id);
        let several = !answered.insert(found.query.as_str()) && !found.multiple;
        if twice || several {
            return Err(Error::Choice(
                "one credential is requested, and several were chosen",
            ));
        }
        answer.push((found.query.as_str(), matching));
    }
    // §6.4.2: all required sets must be satisfied, or nothing is returned.
    if !selection
        .sets
        .iter()
        .all(|set| !set.required || set.is_satisfied_by(&answered))
    {
        return Err(Error::Choice(
            "the chosen credentials do not satisfy the request",
        ));
    }
    // §6.4.2: one option of each set is returned.
    let is_needed = |query: &&str| selection.sets.iter().any(|set| set.needs(query, &answered));
    if !answered.iter().all(is_needed) {
        return Err(Error::Choice(
            "more was chosen than the request needs: one of its alternatives is enough",
        ));
    }
    Ok(answer)
}
