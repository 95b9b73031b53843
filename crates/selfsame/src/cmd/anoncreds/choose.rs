//! Which credential answers which referent: the first that can.

use std::collections::BTreeMap;

use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    Answer, Credential, Interval, Known as KnownOf, PresentationRequest, Query, RequestedAttribute,
    RequestedPredicate, RevocationState, Schema, normalise_attribute,
};
use selfsame_anoncreds::holder::Chosen;

use super::verifier::Known;
use crate::exit::Failure;

/// A credential, what it answers, and as of when it is not revoked.
pub struct Hand<'a> {
    pub credential: &'a Credential,
    pub definition: &'a PreparedDefinition,
    schema: &'a Schema,
    attributes: BTreeMap<String, bool>,
    predicates: Vec<String>,
    pub state: Option<RevocationState>,
}

/// A hand for each credential, nothing chosen yet.
pub fn hands<'a>(
    credentials: &'a [Credential],
    known: &'a Known,
) -> Result<Vec<Hand<'a>>, Failure> {
    let missing = |what: &str, id: &str| {
        Failure::environment(format!("{what} {id} is not named"))
            .hint("--schema ID=FILE --cred-def ID=FILE")
    };
    let hand = |credential: &'a Credential| {
        let (schema_id, cred_def_id) = (
            credential.schema_id.as_str(),
            credential.cred_def_id.as_str(),
        );
        let schema = known
            .schemas
            .get(schema_id)
            .ok_or_else(|| missing("the schema", schema_id))?;
        let definition = known.definitions.get(cred_def_id);
        let definition =
            definition.ok_or_else(|| missing("the credential definition", cred_def_id))?;
        let (attributes, predicates) = (BTreeMap::new(), Vec::new());
        Ok(Hand {
            credential,
            definition,
            schema,
            attributes,
            predicates,
            state: None,
        })
    };
    credentials.iter().map(hand).collect()
}

/// Gives each referent that is not in `alone` to the first hand that can answer it; those in `hidden` are not shown.
/// What nobody can answer is left out, and named when the presentation is made.
pub fn deal(
    hands: &mut [Hand<'_>],
    request: &PresentationRequest,
    alone: &BTreeMap<String, String>,
    hidden: &[String],
) {
    for (referent, asked) in &request.requested_attributes {
        if alone.contains_key(referent) {
            continue;
        }
        let shown = !hidden.contains(referent);
        let interval = asked.non_revoked.or(request.non_revoked);
        if let Some(hand) = hands
            .iter_mut()
            .find(|hand| hand.has(asked, shown, interval))
        {
            hand.attributes.insert(referent.clone(), shown);
        }
    }
    for (referent, asked) in &request.requested_predicates {
        let interval = asked.non_revoked.or(request.non_revoked);
        if let Some(hand) = hands.iter_mut().find(|hand| hand.compares(asked, interval)) {
            hand.predicates.push(referent.clone());
        }
    }
}

impl Hand<'_> {
    /// As the holder's operation wants it.
    pub fn chosen(&self) -> Chosen<'_> {
        Chosen {
            credential: self.credential,
            definition: self.definition,
            attributes: self.attributes.clone(),
            predicates: self.predicates.clone(),
            state: self.state.as_ref(),
        }
    }

    fn has(&self, asked: &RequestedAttribute, shown: bool, interval: Option<Interval>) -> bool {
        let names: Vec<&str> = asked.names().collect();
        names
            .iter()
            .all(|name| self.credential.values.get(name).is_some())
            && self.is_one_of(
                asked.restrictions.as_ref(),
                if shown { &names } else { &[] },
                interval,
            )
    }

    fn compares(&self, asked: &RequestedPredicate, interval: Option<Interval>) -> bool {
        let value = self.credential.values.get(&asked.name);
        let number = value.and_then(|value| value.encoded.parse::<i32>().ok());
        number.is_some_and(|number| asked.p_type.holds(number.into(), asked.p_value.into()))
            && self.is_one_of(asked.restrictions.as_ref(), &[], interval)
    }

    /// Whether it meets the restrictions. Its registry counts where a proof that it is not revoked there is asked for.
    fn is_one_of(
        &self,
        restrictions: Option<&Query>,
        shown: &[&str],
        interval: Option<Interval>,
    ) -> bool {
        let known = KnownOf {
            schema_id: &self.credential.schema_id,
            schema: self.schema,
            // Whether the verifier is as certain, it knows itself.
            schema_is_certain: true,
            definition_id: &self.credential.cred_def_id,
            issuer_id: &self.definition.definition().issuer_id,
            registry_id: interval.and(self.credential.rev_reg_id.as_ref()),
            shown: shown
                .iter()
                .filter_map(|name| {
                    let value = self.credential.values.get(name)?;
                    Some((normalise_attribute(name), value.raw.as_str()))
                })
                .collect(),
        };
        restrictions.is_none_or(|query| known.judge(query) == Answer::Holds)
    }
}
