//! The credentials that a holder chooses for an answer, and whether they answer the request.

use std::collections::BTreeMap;

use crate::Error;
use crate::definition::PreparedDefinition;
use crate::format::{
    Credential, Interval, PresentationRequest, RequestedAttribute, RequestedPredicate,
    RevocationState, SelfAttested,
};

/// A chosen credential and the referents that it answers.
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    /// The credential, processed.
    pub credential: &'a Credential,
    /// The credential's definition.
    pub definition: &'a PreparedDefinition,
    /// The attribute referents that it answers, and whether each is revealed.
    pub attributes: BTreeMap<String, bool>,
    /// The predicate referents that it answers.
    pub predicates: Vec<String>,
    /// The credential's revocation state, where the request asks for non-revocation.
    pub state: Option<&'a RevocationState>,
}

impl Chosen<'_> {
    pub(super) fn is_idle(&self) -> bool {
        self.attributes.is_empty() && self.predicates.is_empty()
    }

    /// The intersection of the intervals asked for of its referents, each its own or else the request's; `None` if the
    /// credential cannot be revoked. (AnonCreds v1.0, "Request Non-Revocation Proofs".) The state to prove from should
    /// be of a list within the interval, or of the list in force when the interval begins.
    pub fn interval(&self, request: &PresentationRequest) -> Option<Interval> {
        self.credential.rev_reg_id.as_ref()?;
        let attributes = self.attributes.keys();
        let attributes =
            attributes.filter_map(|r| Some(request.requested_attributes.get(r)?.non_revoked));
        let predicates = self.predicates.iter();
        let predicates =
            predicates.filter_map(|r| Some(request.requested_predicates.get(r)?.non_revoked));
        attributes
            .chain(predicates)
            .filter_map(|own| own.or(request.non_revoked))
            .reduce(Interval::narrowed)
    }

    /// The requested attributes of its referents.
    pub(super) fn asked<'r>(
        &self,
        request: &'r PresentationRequest,
    ) -> Result<Vec<(&'r str, &'r RequestedAttribute, bool)>, Error> {
        let asked = |(referent, shown): (&String, &bool)| {
            let found = request.requested_attributes.get_key_value(referent);
            let (referent, asked) = found.ok_or_else(|| not_asked(referent))?;
            Ok((referent.as_str(), asked, *shown))
        };
        self.attributes.iter().map(asked).collect()
    }

    /// The requested predicates of its referents, each of which holds.
    pub(super) fn compared<'r>(
        &self,
        request: &'r PresentationRequest,
    ) -> Result<Vec<(&'r str, &'r RequestedPredicate)>, Error> {
        let compared = |referent: &String| {
            let found = request.requested_predicates.get_key_value(referent);
            let (referent, asked) = found.ok_or_else(|| not_asked(referent))?;
            let unsatisfied = |why| Error::Unsatisfied {
                referent: referent.clone(),
                why,
            };
            let value = self.credential.values.get(&asked.name);
            let value = value.ok_or(unsatisfied("the credential does not have the attribute"))?;
            let number = value.encoded.parse::<i32>();
            let number = number.map_err(|_| unsatisfied("the attribute is not a small number"))?;
            if !asked.p_type.holds(number.into(), asked.p_value.into()) {
                return Err(unsatisfied("the comparison does not hold"));
            }
            Ok((referent.as_str(), asked))
        };
        self.predicates.iter().map(compared).collect()
    }
}

/// Checks that every referent of the request is answered once, and that there are no other answers.
pub(super) fn check_complete(
    request: &PresentationRequest,
    chosen: &[Chosen<'_>],
    attested: &BTreeMap<String, SelfAttested>,
) -> Result<(), Error> {
    let mut attributes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut predicates: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = |of_predicate: bool, referent| {
        let answers = if of_predicate {
            &mut predicates
        } else {
            &mut attributes
        };
        let number = answers.entry(referent).or_insert(0_usize);
        *number = number.saturating_add(1);
    };
    for chosen in chosen {
        chosen
            .attributes
            .keys()
            .for_each(|r| count(false, r.as_str()));
        chosen
            .predicates
            .iter()
            .for_each(|r| count(true, r.as_str()));
    }
    for referent in attested.keys() {
        count(false, referent.as_str());
        let asked = request.requested_attributes.get(referent);
        let asked = asked.ok_or_else(|| not_asked(referent))?;
        if !asked.may_be_self_attested() {
            return Err(Error::Unsatisfied {
                referent: referent.clone(),
                why: "it must come from a credential",
            });
        }
    }
    let once = |answers: &BTreeMap<&str, usize>, asked: &mut dyn Iterator<Item = &String>| {
        for referent in asked {
            let why = match answers.get(referent.as_str()) {
                Some(1) => continue,
                Some(_) => "it is answered twice",
                None => "nothing answers it",
            };
            return Err(Error::Unsatisfied {
                referent: referent.clone(),
                why,
            });
        }
        Ok(())
    };
    once(&attributes, &mut request.requested_attributes.keys())?;
    once(&predicates, &mut request.requested_predicates.keys())
}

fn not_asked(referent: &str) -> Error {
    Error::Unsatisfied {
        referent: referent.to_owned(),
        why: "the request does not ask for it",
    }
}
