//! The holder's answer to a presentation request: which credential answers which referent, the states that prove that
//! they are not revoked, and the presentation.

use std::collections::BTreeMap;

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::cl::revocation::TailsFile;
use selfsame_anoncreds::format::{
    Presentation, PresentationRequest, RevocationRegistryDefinition, RevocationRegistryId,
    RevocationState, RevocationStatusList, SelfAttested,
};
use selfsame_anoncreds::holder::{
    Chosen, Owned, Revocable, candidates, create_presentation, update_revocation_state,
};
use selfsame_anoncreds::verifier::{Encoding, Policy, verify_presentation};
use selfsame_crypto::ctx::Ctx;

use crate::{HeldCredential, MissingObject, PublishedObjects, RoleError};

/// Values that people measure are closer to the bounds they are compared with.
const SENSIBLE: u64 = 1_000_000_000;

/// What the holder decides about an answer.
#[derive(Clone, Debug, Default)]
pub struct HoldersChoice {
    /// Attribute referents to answer without revealing their values.
    pub hidden: Vec<String>,
    /// Attribute referents that the holder attests without a credential, with their values.
    pub attested: BTreeMap<String, String>,
}

/// Which credential answers which referent, by its place among the credentials of a draft.
#[derive(Clone, Debug, Default)]
pub struct AssignedReferents {
    /// The credential for each attribute referent.
    pub attributes: BTreeMap<String, usize>,
    /// The credential for each predicate referent.
    pub predicates: BTreeMap<String, usize>,
}

/// An answer in the making: the credentials, each with the referents that it answers.
pub struct AnswerDraft<'a> {
    request: &'a PresentationRequest,
    published: &'a PublishedObjects,
    choice: &'a HoldersChoice,
    hands: Vec<Hand<'a>>,
}

/// A credential, the referents it answers, and the revocation state it proves from.
struct Hand<'a> {
    owned: Owned<'a>,
    attributes: BTreeMap<String, bool>,
    predicates: Vec<String>,
    state: Option<RevocationState>,
}

/// A credential that must prove that it is not revoked, for which the registry's tails file is needed.
pub struct StateNeed<'a> {
    hand: usize,
    /// The registry's identifier.
    pub id: &'a str,
    /// The registry.
    pub registry: &'a RevocationRegistryDefinition,
    /// The newest list that is not newer than the requested interval.
    pub list: &'a RevocationStatusList,
    /// The beginning of the interval, if the list is older: only a verifier that accepts the list then in force accepts
    /// it.
    pub begins_after: Option<u64>,
}

/// A predicate that no sensible request has: it holds for all values except those that are looked for.
pub struct ImplausibleBound {
    /// The predicate's referent.
    pub referent: String,
    /// Its bound.
    pub bound: i64,
}

impl StateNeed<'_> {
    /// The place of the credential among those of the draft.
    #[must_use]
    pub fn credential(&self) -> usize {
        self.hand
    }

    /// The tails file, for an error that says it is missing.
    #[must_use]
    pub fn missing_tails(&self) -> MissingObject {
        MissingObject::Tails {
            registry: self.id.to_owned(),
            hash: self.registry.value.tails_hash.clone(),
        }
    }
}

impl<'a> AnswerDraft<'a> {
    /// Assigns each referent that the holder does not attest to the first credential that can answer it. A referent
    /// that no credential can answer is left out; making the presentation then reports it.
    ///
    /// # Errors
    /// [`RoleError::NotRequested`] if the holder's choice names another referent, [`RoleError::Missing`] for a schema or
    /// a definition.
    pub fn new(
        request: &'a PresentationRequest,
        credentials: &'a [HeldCredential],
        published: &'a PublishedObjects,
        choice: &'a HoldersChoice,
    ) -> Result<Self, RoleError> {
        choice.check(request)?;
        let hand = |held: &'a HeldCredential| {
            Ok(Hand {
                owned: published.owned(held.credential())?,
                attributes: BTreeMap::new(),
                predicates: Vec::new(),
                state: None,
            })
        };
        let hands: Result<Vec<_>, RoleError> = credentials.iter().map(hand).collect();
        let mut draft = Self {
            request,
            published,
            choice,
            hands: hands?,
        };
        draft.deal();
        Ok(draft)
    }

    /// The same with the referents assigned as the holder chose. A referent without a credential is reported when the
    /// presentation is made, and so is a credential that does not have what is asked for.
    #[must_use]
    pub fn assigned(mut self, to: &AssignedReferents) -> Self {
        for hand in &mut self.hands {
            hand.attributes.clear();
            hand.predicates.clear();
        }
        for (referent, place) in &to.attributes {
            if let Some(hand) = self.hands.get_mut(*place) {
                let is_shown = !self.choice.hidden.contains(referent);
                hand.attributes.insert(referent.clone(), is_shown);
            }
        }
        for (referent, place) in &to.predicates {
            if let Some(hand) = self.hands.get_mut(*place) {
                hand.predicates.push(referent.clone());
            }
        }
        self
    }

    /// The next credential that needs a state to prove from.
    ///
    /// # Errors
    /// [`RoleError::Missing`] for a registry, or for a list within the requested interval.
    pub fn need(&self) -> Result<Option<StateNeed<'a>>, RoleError> {
        for (place, hand) in self.hands.iter().enumerate() {
            let interval = hand.chosen().interval(self.request);
            let (Some(interval), None) = (interval, &hand.state) else {
                continue;
            };
            let id = hand.owned.credential.rev_reg_id.as_ref();
            let id = id.map_or("", RevocationRegistryId::as_str);
            let registry = self
                .published
                .registries
                .get(id)
                .ok_or_else(|| RoleError::Missing(MissingObject::Registry(id.to_owned())))?;
            let list = self.published.newest(id, interval)?;
            let begins_after = interval
                .from
                .filter(|from| list.timestamp.is_some_and(|at| at < *from));
            return Ok(Some(StateNeed {
                hand: place,
                id,
                registry,
                list,
                begins_after,
            }));
        }
        Ok(None)
    }

    /// Makes the state of a need from a tails file; false if the file is another registry's.
    ///
    /// # Errors
    /// [`Error::Registry`] if the credential is revoked, [`Error::Mismatch`] if the parts do not belong together.
    pub fn prove_state(&mut self, need: &StateNeed<'a>, tails: &[u8]) -> Result<bool, Error> {
        let state = self.state(need, tails, None)?;
        let is_its = state.is_some();
        if let Some(state) = state {
            self.give_state(need, state);
        }
        Ok(is_its)
    }

    /// The state of a need, from a tails file and an older state of the credential with its list; `None` if the file is
    /// another registry's.
    ///
    /// # Errors
    /// As [`Self::prove_state`].
    pub fn state(
        &self,
        need: &StateNeed<'a>,
        tails: &[u8],
        older: Option<(&RevocationState, &RevocationStatusList)>,
    ) -> Result<Option<RevocationState>, Error> {
        let value = &need.registry.value;
        let tails = TailsFile::checked(tails, value.max_cred_num, &value.tails_hash);
        let (Ok(tails), Some(hand)) = (tails, self.hands.get(need.hand)) else {
            return Ok(None);
        };
        let of = Revocable {
            credential: hand.owned.credential,
            definition: hand.owned.definition,
            registry: need.registry,
            tails: &tails,
        };
        update_revocation_state(&of, need.list, older).map(Some)
    }

    /// Gives the credential of a need the state to prove from.
    pub fn give_state(&mut self, need: &StateNeed<'a>, state: RevocationState) {
        if let Some(hand) = self.hands.get_mut(need.hand) {
            hand.state = Some(state);
        }
    }

    /// The predicates with implausible bounds, about which the holder should be warned.
    #[must_use]
    pub fn implausible_bounds(&self) -> Vec<ImplausibleBound> {
        let mut found = Vec::new();
        for hand in &self.hands {
            let values = &hand.owned.credential.values;
            for referent in &hand.predicates {
                let asked = self.request.requested_predicates.get(referent);
                let value = asked.and_then(|asked| values.get(&asked.name)?.encoded.parse().ok());
                let (Some(asked), Some(value)) = (asked, value) else {
                    continue;
                };
                let bound = i64::from(asked.p_value);
                if bound.unsigned_abs() > SENSIBLE || bound.abs_diff(value) > SENSIBLE {
                    found.push(ImplausibleBound {
                        referent: referent.clone(),
                        bound,
                    });
                }
            }
        }
        found
    }

    /// Makes the presentation, and refuses one that would not verify.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] if the request is not answered; [`RoleError::Unacceptable`] or [`RoleError::NoProof`] if
    /// no verifier would accept it.
    pub fn present(&self, secret: &LinkSecret, ctx: &Ctx) -> Result<Presentation, RoleError> {
        let presentation = self.present_accepted(secret, ctx)?;
        self.check(&presentation)?;
        Ok(presentation)
    }

    /// Makes the presentation without verifying it, which takes as long as making it: for credentials that were
    /// verified with this link secret when they were accepted, and are kept sealed since.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] if the request is not answered.
    pub fn present_accepted(
        &self,
        secret: &LinkSecret,
        ctx: &Ctx,
    ) -> Result<Presentation, RoleError> {
        let chosen: Vec<Chosen<'_>> = self.hands.iter().map(Hand::chosen).collect();
        let attested = self.choice.attested.iter();
        let attested = attested
            .map(|(referent, value)| (referent.clone(), SelfAttested(value.clone())))
            .collect();
        let presentation = create_presentation(self.request, &chosen, &attested, secret, ctx);
        presentation.map_err(Into::into)
    }

    fn deal(&mut self) {
        let HoldersChoice { hidden, attested } = self.choice;
        let owned: Vec<Owned<'_>> = self.hands.iter().map(|hand| hand.owned).collect();
        let found = candidates(self.request, &owned, hidden);
        for (referent, places) in found.attributes {
            let place = places.first().filter(|_| !attested.contains_key(&referent));
            if let Some(hand) = place.and_then(|place| self.hands.get_mut(*place)) {
                hand.attributes
                    .insert(referent.clone(), !hidden.contains(&referent));
            }
        }
        for (referent, places) in found.predicates {
            if let Some(hand) = places.first().and_then(|place| self.hands.get_mut(*place)) {
                hand.predicates.push(referent);
            }
        }
    }

    /// Refuses a presentation that would not verify. All messages may be well formed and the proof still invalid: the
    /// credential is not finished, or is bound to another link secret. The verifier alone knows which restrictions and
    /// which age of lists it accepts, so neither is checked here; everything else must hold.
    fn check(&self, presentation: &Presentation) -> Result<(), RoleError> {
        let policy = Policy {
            encoding: Encoding::OfTheIssuer,
            ..Policy::default()
        };
        let mut asked = self.request.clone();
        asked.non_revoked = None;
        for attribute in asked.requested_attributes.values_mut() {
            (attribute.restrictions, attribute.non_revoked) = (None, None);
        }
        for predicate in asked.requested_predicates.values_mut() {
            (predicate.restrictions, predicate.non_revoked) = (None, None);
        }
        let known = self.published.known()?;
        let verdict = verify_presentation(presentation, &asked, &known, &policy).verdict;
        match verdict.reason() {
            _ if verdict.is_valid() => Ok(()),
            Some(rule) if rule.name != "proof" => Err(RoleError::Unacceptable {
                rule: rule.name.clone(),
                detail: rule.detail.clone(),
            }),
            _ => Err(RoleError::NoProof),
        }
    }
}

impl Hand<'_> {
    /// The choice in the form that the holder's operation takes.
    fn chosen(&self) -> Chosen<'_> {
        Chosen {
            credential: self.owned.credential,
            definition: self.owned.definition,
            attributes: self.attributes.clone(),
            predicates: self.predicates.clone(),
            state: self.state.as_ref(),
        }
    }
}

impl HoldersChoice {
    fn check(&self, request: &PresentationRequest) -> Result<(), RoleError> {
        let asked = &request.requested_attributes;
        let mut named = self.hidden.iter().chain(self.attested.keys());
        match named.find(|referent| !asked.contains_key(*referent)) {
            None => Ok(()),
            Some(referent) => Err(RoleError::NotRequested {
                referent: referent.clone(),
                requested: asked.keys().cloned().collect(),
            }),
        }
    }
}
