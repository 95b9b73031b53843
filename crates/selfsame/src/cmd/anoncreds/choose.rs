//! Which credential answers which referent: the first one that can.

use std::collections::BTreeMap;

use selfsame_anoncreds::format::{Credential, PresentationRequest, RevocationState};
use selfsame_anoncreds::holder::{Chosen, Owned, candidates};

use super::verifier::Known;
use crate::exit::Failure;

/// A credential, the referents it answers, and the revocation state it proves from.
pub struct Hand<'a> {
    pub owned: Owned<'a>,
    attributes: BTreeMap<String, bool>,
    predicates: Vec<String>,
    pub state: Option<RevocationState>,
}

/// A hand for each credential, with no referent assigned.
pub fn hands<'a>(
    credentials: &'a [Credential],
    known: &'a Known,
) -> Result<Vec<Hand<'a>>, Failure> {
    const HINT: &str = "--schema ID=FILE --cred-def ID=FILE";
    let missing = |what| Failure::environment(format!("{what} is missing")).hint(HINT);
    let hand = |credential: &'a Credential| {
        let (schema, definition) = (&credential.schema_id, &credential.cred_def_id);
        let found = known.schemas.get(schema.as_str());
        let schema = found.ok_or_else(|| missing(format!("the schema {schema}")))?;
        let found = known.definitions.get(definition.as_str());
        let named = || missing(format!("the credential definition {definition}"));
        let definition = found.ok_or_else(named)?;
        Ok(Hand {
            owned: Owned {
                credential,
                schema,
                definition,
            },
            attributes: BTreeMap::new(),
            predicates: Vec::new(),
            state: None,
        })
    };
    credentials.iter().map(hand).collect()
}

/// Assigns each referent that is not in `alone` to the first hand that can answer it; attributes in `hidden` are not
/// revealed. A referent that no credential can answer is left out; making the presentation then reports it.
pub fn deal(
    hands: &mut [Hand<'_>],
    request: &PresentationRequest,
    alone: &BTreeMap<String, String>,
    hidden: &[String],
) {
    let owned: Vec<Owned<'_>> = hands.iter().map(|hand| hand.owned).collect();
    let found = candidates(request, &owned, hidden);
    for (referent, places) in found.attributes {
        let place = places.first().filter(|_| !alone.contains_key(&referent));
        if let Some(hand) = place.and_then(|place| hands.get_mut(*place)) {
            hand.attributes
                .insert(referent.clone(), !hidden.contains(&referent));
        }
    }
    for (referent, places) in found.predicates {
        if let Some(hand) = places.first().and_then(|place| hands.get_mut(*place)) {
            hand.predicates.push(referent);
        }
    }
}

impl Hand<'_> {
    /// The choice in the form that the holder's operation takes.
    pub fn chosen(&self) -> Chosen<'_> {
        Chosen {
            credential: self.owned.credential,
            definition: self.owned.definition,
            attributes: self.attributes.clone(),
            predicates: self.predicates.clone(),
            state: self.state.as_ref(),
        }
    }
}
