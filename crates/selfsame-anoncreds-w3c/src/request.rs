//! What a presentation definition asks of AnonCreds: the presentation request that both sides derive from it (RFC 0510), as
//! the published agents do.

use std::collections::BTreeMap;

use dashu_int::UBig;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::to_bytes;
use serde::Serialize;
use serde_json::{Map, json};

/// Digits of a nonce.
const NONCE_DIGITS: usize = 20;
/// The name of a request whose definition has none.
const UNNAMED: &str = "Proof request";

/// A definition with the credentials that answer it.
#[derive(Clone, Debug)]
pub struct AskedDefinition<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// What the verifier wants to be signed.
    pub challenge: &'a str,
    /// What it asks of each credential.
    pub asked: &'a [AskedOfCard],
}

/// What is asked of a credential.
#[derive(Clone, Debug, Default)]
pub struct AskedOfCard {
    /// The identifier of the input descriptor.
    pub id: String,
    /// The credential definition of the credential that answers.
    pub cred_def_id: String,
    /// The place of the credential in the presentation.
    pub place: usize,
    /// The attributes.
    pub names: Vec<String>,
    /// The predicates.
    pub bounds: Vec<Bound>,
    /// When the credential must not be revoked.
    pub valid: Option<Valid>,
}

/// A predicate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bound {
    /// The attribute.
    pub name: String,
    /// How it is compared.
    pub comparison: &'static str,
    /// What it is compared with.
    pub value: i32,
}

/// An interval in which a credential is not revoked, in seconds since 1970.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Valid {
    /// Its begin.
    pub from: u64,
    /// Its end.
    pub to: u64,
}

impl AskedOfCard {
    /// The referents of what is asked.
    pub fn referents(&self) -> impl Iterator<Item = String> {
        let attributes = (!self.names.is_empty()).then(|| format!("{}_attribute", self.id));
        let predicates = 0..self.bounds.len();
        let predicates = predicates.map(|number| format!("{}_predicate_{number}", self.id));
        attributes.into_iter().chain(predicates)
    }
}

/// A presentation request, with the place of the credential for each referent.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The JSON of the request.
    pub json: Vec<u8>,
    /// The places.
    pub places: BTreeMap<String, usize>,
}

impl AskedDefinition<'_> {
    /// The presentation request.
    #[must_use]
    pub fn derived(&self) -> Derived {
        let (mut attributes, mut predicates) = (Map::new(), Map::new());
        let mut places = BTreeMap::new();
        for one in self.asked {
            let restrictions = json!([{"cred_def_id": one.cred_def_id}]);
            if !one.names.is_empty() {
                let referent = format!("{}_attribute", one.id);
                places.insert(referent.clone(), one.place);
                let asked = json!({"names": one.names, "restrictions": restrictions, "non_revoked": one.valid});
                attributes.insert(referent, asked);
            }
            for (number, bound) in one.bounds.iter().enumerate() {
                let referent = format!("{}_predicate_{number}", one.id);
                places.insert(referent.clone(), one.place);
                let asked = json!({
                    "name": bound.name,
                    "p_type": bound.comparison,
                    "p_value": bound.value,
                    "restrictions": restrictions,
                    "non_revoked": one.valid,
                });
                predicates.insert(referent, asked);
            }
        }
        let request = json!({
            "name": self.name.unwrap_or(UNNAMED),
            "version": "1.0",
            "nonce": nonce(self.challenge),
            "requested_attributes": attributes,
            "requested_predicates": predicates,
        });
        Derived {
            json: to_bytes(&request),
            places,
        }
    }
}

/// The nonce of a challenge: the first twenty decimal digits of its SHA-256.
fn nonce(challenge: &str) -> String {
    let digits = UBig::from_be_bytes(&sha256(challenge.as_bytes())).to_string();
    digits.chars().take(NONCE_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_challenge_has_the_nonce_of_its_hash() {
        // SHA-256("abc") is 0xba7816bf…15ad.
        assert_eq!(nonce("abc"), "84342368487090800366");
        assert_eq!(nonce("").len(), 20);
    }

    #[test]
    fn each_descriptor_has_one_group_of_attributes_and_a_referent_for_each_predicate() {
        let bound = |comparison, value| Bound {
            name: "age".to_owned(),
            comparison,
            value,
        };
        let asked = [
            AskedOfCard {
                id: "a".to_owned(),
                cred_def_id: "c".to_owned(),
                names: vec!["name".to_owned(), "city".to_owned()],
                bounds: vec![bound(">=", 18), bound("<", 65)],
                ..AskedOfCard::default()
            },
            AskedOfCard {
                id: "b".to_owned(),
                cred_def_id: "d".to_owned(),
                place: 1,
                bounds: vec![bound(">", 1)],
                valid: Some(Valid { from: 5, to: 6 }),
                ..AskedOfCard::default()
            },
        ];
        let derived = AskedDefinition {
            name: None,
            challenge: "abc",
            asked: &asked,
        }
        .derived();
        let request: Value = serde_json::from_slice(&derived.json).unwrap();
        let group = &request["requested_attributes"]["a_attribute"];
        assert_eq!(group["names"], json!(["name", "city"]));
        assert_eq!(group["restrictions"], json!([{"cred_def_id": "c"}]));
        let predicates = &request["requested_predicates"];
        assert_eq!(predicates["a_predicate_1"]["p_type"], "<");
        assert_eq!(
            predicates["b_predicate_0"]["non_revoked"],
            json!({"from": 5, "to": 6})
        );
        let places: Vec<_> = derived
            .places
            .iter()
            .map(|(id, at)| format!("{id} {at}"))
            .collect();
        let expected = [
            "a_attribute 0",
            "a_predicate_0 0",
            "a_predicate_1 0",
            "b_predicate_0 1",
        ];
        assert_eq!(places, expected);
    }
}
