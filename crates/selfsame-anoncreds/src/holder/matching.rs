//! Which of a holder's credentials can answer a request.

use std::collections::BTreeMap;

use crate::definition::PreparedDefinition;
use crate::format::{
    Comparison, Credential, Interval, Known, PresentationRequest, Query, QueryAnswer, Schema,
    normalise_attribute,
};

/// A credential that the holder has, with the published objects it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owned<'a> {
    /// The credential, processed.
    pub credential: &'a Credential,
    /// The credential's schema.
    pub schema: &'a Schema,
    /// The credential's definition.
    pub definition: &'a PreparedDefinition,
}

/// The credentials that can answer a request: for each referent, their positions in the given order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Candidates {
    /// For each requested attribute or group.
    pub attributes: BTreeMap<String, Vec<usize>>,
    /// For each requested predicate.
    pub predicates: BTreeMap<String, Vec<usize>>,
}

/// Finds credentials that have the attributes, meet the restrictions, and satisfy the predicates, if the values of the
/// `hidden` referents are not revealed. Does not check whether a credential is revoked.
pub fn candidates(
    request: &PresentationRequest,
    owned: &[Owned<'_>],
    hidden: &[String],
) -> Candidates {
    let places = |can: &dyn Fn(&Owned<'_>) -> bool| {
        let fit = owned.iter().enumerate().filter(|(_, owned)| can(owned));
        fit.map(|(place, _)| place).collect::<Vec<_>>()
    };
    let attributes = request
        .requested_attributes
        .iter()
        .map(|(referent, asked)| {
            let can = |owned: &Owned<'_>| {
                let names: Vec<&str> = asked.names().collect();
                let has = names
                    .iter()
                    .all(|name| owned.credential.values.get(name).is_some());
                let interval = asked.non_revoked.or(request.non_revoked);
                let shown = if hidden.contains(referent) {
                    &[]
                } else {
                    names.as_slice()
                };
                has && owned.meets(asked.restrictions.as_ref(), shown, interval)
            };
            (referent.clone(), places(&can))
        });
    let predicates = request
        .requested_predicates
        .iter()
        .map(|(referent, asked)| {
            let can = |owned: &Owned<'_>| {
                let interval = asked.non_revoked.or(request.non_revoked);
                owned.compares(&asked.name, asked.p_type, asked.p_value)
                    && owned.meets(asked.restrictions.as_ref(), &[], interval)
            };
            (referent.clone(), places(&can))
        });
    Candidates {
        attributes: attributes.collect(),
        predicates: predicates.collect(),
    }
}

impl Owned<'_> {
    fn compares(&self, name: &str, comparison: Comparison, bound: i32) -> bool {
        let value = self.credential.values.get(name);
        let number = value.and_then(|value| value.encoded.parse::<i32>().ok());
        number.is_some_and(|number| comparison.holds(number.into(), bound.into()))
    }

    /// Whether the credential meets a restriction if the values under these names are revealed. Its registry counts
    /// only where a proof of non-revocation is asked for: a verifier accepts a registry on no other ground.
    fn meets(
        &self,
        restrictions: Option<&Query>,
        names: &[&str],
        interval: Option<Interval>,
    ) -> bool {
        let Some(query) = restrictions else {
            return true;
        };
        let shown = names.iter().filter_map(|name| {
            let value = self.credential.values.get(name)?;
            Some((normalise_attribute(name), value.raw.as_str()))
        });
        let known = Known {
            schema_id: &self.credential.schema_id,
            schema: self.schema,
            // Only the verifier knows whether it is as certain.
            schema_is_certain: true,
            definition_id: &self.credential.cred_def_id,
            issuer_id: &self.definition.definition().issuer_id,
            registry_id: interval.and(self.credential.rev_reg_id.as_ref()),
            shown: shown.collect(),
        };
        known.judge(query) == QueryAnswer::Holds
    }
}
