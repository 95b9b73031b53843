//! What a descriptor asks of an AnonCreds credential, and whether one meets it.

use selfsame_anoncreds_w3c::request::{AskedOfCard, Bound};
use selfsame_credential::path::Segment;
use selfsame_driver::Result;
use serde_json::Value;

use crate::claim_path;
use crate::definition::{Descriptor, Directive, Field};
use crate::error::malformed;

/// The member of a credential with its attributes.
const SUBJECT: &str = "credentialSubject";
/// The types of a credential that are known, as version 1 of Presentation Exchange names them.
const TYPES: [&str; 2] = [
    "https://www.w3.org/2018/credentials#VerifiableCredential",
    "https://www.w3.org/2018/credentials/v1",
];

/// What a credential is judged by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JudgedSide {
    /// The holder has the values.
    Held,
    /// The verifier has `true` where a predicate is proven.
    Shown,
}

impl Descriptor {
    /// Whether a credential with these claims meets it.
    pub(super) fn meets(&self, claims: &Value, side: JudgedSide) -> bool {
        let mut schemas = self.schema.iter();
        let knows = schemas
            .all(|one| one.required == Some(false) || TYPES.iter().any(|known| *known == one.uri));
        let mut fields = self.constraints.fields.iter();
        knows && fields.all(|field| field.is_met(claims, side))
    }

    /// What it asks of a credential with these claims.
    ///
    /// # Errors
    /// `BadRequest` if it asks for nothing that AnonCreds can prove.
    pub(super) fn asked(&self, claims: &Value) -> Result<AskedOfCard> {
        let mut asked = AskedOfCard {
            id: self.id.clone(),
            ..AskedOfCard::default()
        };
        for field in &self.constraints.fields {
            let attribute = field.attribute();
            let attribute = attribute.filter(|name| claims[SUBJECT].get(name).is_some());
            match (attribute, field.predicate) {
                (Some(name), None) if !asked.names.contains(&name) => asked.names.push(name),
                (Some(name), Some(_)) => asked.bounds.extend(field.bounds(&name)?),
                _ => {}
            }
        }
        match asked.names.is_empty() && asked.bounds.is_empty() {
            true => Err(malformed(&"a descriptor asks for no attribute")),
            false => Ok(asked),
        }
    }

    /// The first attribute that it asks for, by which a credential is searched.
    pub(super) fn first_attribute(&self) -> Option<String> {
        let fields = self.constraints.fields.iter();
        let mut needed = fields.filter(|field| !field.optional);
        needed.find_map(Field::attribute)
    }

    /// Whether a credential must be proven not to be revoked, if it can be.
    pub(super) fn asks_for_status(&self) -> bool {
        let statuses = self.constraints.statuses.as_ref();
        let active = statuses.and_then(|statuses| statuses.active.as_ref());
        active.is_some_and(|active| active.directive != Directive::Disallowed)
    }
}

impl Field {
    /// The attribute that it is about.
    fn attribute(&self) -> Option<String> {
        self.path.iter().find_map(|path| {
            // A path of VCDM 1.1 begins with the claim of the JWT that holds the credential.
            let within = path.strip_prefix("$.vc.").map(|rest| format!("$.{rest}"));
            let path = claim_path::parse(within.as_ref().unwrap_or(path))?;
            match path.segments() {
                [Segment::Name(subject), Segment::Name(name)] if subject == SUBJECT => {
                    Some(name.clone())
                }
                _ => None,
            }
        })
    }

    fn is_met(&self, claims: &Value, side: JudgedSide) -> bool {
        let Some(_) = self.predicate else {
            return self.place(claims).is_some() || self.optional;
        };
        let name = self.attribute();
        match name.and_then(|name| claims[SUBJECT].get(name)) {
            None => self.optional,
            Some(value) if side == JudgedSide::Shown => *value == Value::Bool(true),
            Some(value) => self.filter.as_ref().is_some_and(|one| one.fits(value)),
        }
    }

    /// The predicates about an attribute.
    fn bounds(&self, name: &str) -> Result<Vec<Bound>> {
        let filter = self.filter.as_ref();
        let filter = filter.filter(|filter| filter.is_of_bounds());
        let filter = filter.ok_or_else(|| malformed(&"a predicate is about bounds of a number"))?;
        let bounds = filter.bounds().into_iter().map(|bound| Bound {
            name: name.to_owned(),
            comparison: bound.comparison,
            value: bound.value,
        });
        Ok(bounds.collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn descriptor(fields: Value) -> Descriptor {
        let value = json!({"id": "card", "constraints": {"fields": fields}});
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn attributes_and_predicates_are_asked_of_the_subject() {
        let card = descriptor(json!([
            {"path": ["$.issuer"], "filter": {"const": "did:example:1"}},
            {"path": ["$.credentialSubject.name", "$.vc.credentialSubject.name"]},
            {"path": ["$.credentialSubject['id number']"], "filter": {"type": "string"}},
            {"path": ["$.vc.credentialSubject.age"], "predicate": "required",
                "filter": {"type": "number", "minimum": 18, "maximum": 64}},
            {"path": ["$.credentialSubject.phone"], "optional": true},
        ]));
        let held = json!({"issuer": "did:example:1", "credentialSubject": {
            "name": "Alice", "id number": "0042", "age": 28}});
        assert!(card.meets(&held, JudgedSide::Held));
        let shown = json!({"issuer": "did:example:1", "credentialSubject": {
            "name": "Alice", "id number": "0042", "age": true}});
        assert!(card.meets(&shown, JudgedSide::Shown) && !card.meets(&shown, JudgedSide::Held));
        assert!(!card.meets(&held, JudgedSide::Shown));
        for claims in [&held, &shown] {
            let asked = card.asked(claims).unwrap();
            assert_eq!(asked.names, ["name", "id number"]);
            let bounds = asked.bounds.iter().map(|one| (one.comparison, one.value));
            assert_eq!(bounds.collect::<Vec<_>>(), [(">=", 18), ("<=", 64)]);
        }
        assert_eq!(card.first_attribute().as_deref(), Some("name"));
        for (place, value) in [
            ("/issuer", json!("did:example:2")),
            ("/credentialSubject/age", json!(65)),
            ("/credentialSubject/id number", json!(42)),
            ("/credentialSubject", json!({"name": "Alice", "age": 28})),
        ] {
            let mut other = held.clone();
            *other.pointer_mut(place).unwrap() = value;
            assert!(!card.meets(&other, JudgedSide::Held), "{place}");
        }
    }

    #[test]
    fn what_anoncreds_can_not_prove_is_refused() {
        let claims = json!({"issuer": "i", "credentialSubject": {"age": 28}});
        for fields in [
            json!([{"path": ["$.issuer"]}]),
            json!([{"path": ["$.credentialSubject.age"], "predicate": "required"}]),
            json!([{"path": ["$.credentialSubject.age"], "predicate": "preferred",
                "filter": {"const": 28}}]),
        ] {
            assert!(descriptor(fields).asked(&claims).is_err());
        }
    }

    #[test]
    fn an_unknown_schema_is_not_met_and_a_status_is_asked_for_unless_it_is_disallowed() {
        let claims = json!({"credentialSubject": {"age": 28}});
        let of = |uri: &str, directive: &str| -> Descriptor {
            let value = json!({"id": "a", "schema": [{"uri": uri}], "constraints": {
                "fields": [{"path": ["$.credentialSubject.age"]}],
                "statuses": {"active": {"directive": directive}}}});
            serde_json::from_value(value).unwrap()
        };
        assert!(of(TYPES[0], "required").meets(&claims, JudgedSide::Held));
        assert!(!of("https://example.org/Degree", "required").meets(&claims, JudgedSide::Held));
        let asks =
            ["required", "allowed", "disallowed"].map(|one| of(TYPES[0], one).asks_for_status());
        assert_eq!(asks, [true, true, false]);
    }
}
