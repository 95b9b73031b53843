//! Presentation definitions (DIF Presentation Exchange 2.0, "Presentation Definition"): a strict and bounded subset. What
//! it does not know is refused, because a requirement that is passed over would be broken.

use std::collections::BTreeMap;

use selfsame_credential::verify::Binding;
use selfsame_credential::{ClaimPath, Held};
use selfsame_driver::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claim_path;
use crate::error::{malformed, read};

/// The most credentials that a definition can ask for.
const DESCRIPTORS_MAX: usize = 8;
/// The most fields of a credential.
const FIELDS_MAX: usize = 32;
/// The most paths of a field.
const PATHS_MAX: usize = 8;

/// The format of credentials with Data Integrity proofs, and the cryptosuite that is known.
pub const INTEGRITY: &str = "di_vc";
const CRYPTOSUITE: &str = "anoncreds-2023";

/// The attachment of a request (RFC 0510, "`request-presentation` attachment format").
#[derive(Deserialize, Serialize)]
pub struct DefinedRequest {
    /// What the prover signs.
    #[serde(default)]
    pub options: ProofOptions,
    /// What is asked for.
    pub presentation_definition: PresentationDefinition,
}

/// What a prover signs.
#[derive(Clone, Default, Deserialize, Serialize)]
pub struct ProofOptions {
    /// A nonce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<String>,
    /// The verifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

/// What is asked for.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PresentationDefinition {
    /// Its identifier.
    pub id: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The formats that are taken, if not all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub format: BTreeMap<String, Value>,
    /// The credentials; each of them is needed.
    pub input_descriptors: Vec<Descriptor>,
}

/// A credential that is asked for.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// Its identifier in the definition.
    pub id: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The formats that are taken, if not all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub format: BTreeMap<String, Value>,
    /// What its type must be, as version 1 of Presentation Exchange says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schema: Vec<SchemaUri>,
    /// What it must say.
    pub constraints: Constraints,
}

/// A type of credentials.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaUri {
    /// Its identifier.
    pub uri: String,
    /// Whether the credential must have it; it must if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

/// What a credential must say.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Constraints {
    /// The claims.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// Whether nothing else may be shown. A credential whose format can withhold claims shows nothing else anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_disclosure: Option<Disclosure>,
    /// Whether it must not be revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statuses: Option<Statuses>,
}

/// What the status of a credential must be.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Statuses {
    /// That it is not revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<StatusDirective>,
}

/// Whether a status is to be shown.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatusDirective {
    /// Whether it is.
    pub directive: Directive,
}

/// Whether something is to be shown.
#[derive(Clone, Copy, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Directive {
    /// It must be.
    Required,
    /// It may be.
    Allowed,
    /// It is not.
    Disallowed,
}

/// How much is to be shown.
#[derive(Clone, Copy, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Disclosure {
    /// The fields alone.
    Required,
    /// The fields alone, if that is possible.
    Preferred,
}

/// A claim that is asked for.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Where it is: the first path that leads to a value counts.
    pub path: Vec<String>,
    /// What the value must be; any without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Whether a predicate about the value is to be shown in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<Disclosure>,
    /// Whether it may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// What a value must be: the keywords of JSON Schema that are known here.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Filter {
    /// `type`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<JsonType>,
    /// `const`.
    #[serde(rename = "const", default, skip_serializing_if = "Option::is_none")]
    pub is: Option<Value>,
    /// `enum`.
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Value>>,
    /// `contains`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<Box<Filter>>,
    /// `minimum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<i32>,
    /// `maximum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<i32>,
    /// `exclusiveMinimum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive_minimum: Option<i32>,
    /// `exclusiveMaximum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive_maximum: Option<i32>,
}

/// A type of JSON Schema.
#[derive(Clone, Copy, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JsonType {
    /// A text.
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl DefinedRequest {
    /// Reads a request that is understood in each part of its definition.
    ///
    /// # Errors
    /// `BadRequest` if it is not valid.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let request: Self = read(bytes)?;
        request.presentation_definition.check()?;
        Ok(request)
    }

    /// What the prover's signatures are bound to.
    ///
    /// # Errors
    /// `BadRequest` without a challenge or a domain: a presentation without them could be shown again.
    pub fn binding(&self) -> Result<Binding> {
        let ProofOptions { challenge, domain } = self.options.clone();
        let (Some(nonce), Some(audience)) = (challenge, domain) else {
            return Err(malformed(&"the request has no challenge or no domain"));
        };
        Ok(Binding {
            audience,
            nonce,
            session: None,
        })
    }
}

impl PresentationDefinition {
    /// Checks the bounds and the paths.
    fn check(&self) -> Result<()> {
        let descriptors = &self.input_descriptors;
        if !(1..=DESCRIPTORS_MAX).contains(&descriptors.len()) {
            return Err(malformed(&"a definition asks for 1 to 8 credentials"));
        }
        let mut ids: Vec<&str> = descriptors.iter().map(|one| one.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() != descriptors.len() {
            return Err(malformed(&"two input descriptors have one identifier"));
        }
        for field in descriptors.iter().flat_map(|one| &one.constraints.fields) {
            if !(1..=PATHS_MAX).contains(&field.path.len()) {
                return Err(malformed(&"a field has 1 to 8 paths"));
            }
            let mut unknown = field
                .path
                .iter()
                .filter(|path| claim_path::parse(path).is_none());
            if let Some(path) = unknown.next() {
                return Err(malformed(&format_args!(
                    "the path `{path}` is not understood"
                )));
            }
        }
        let many = |one: &Descriptor| one.constraints.fields.len() > FIELDS_MAX;
        if descriptors.iter().any(many) {
            return Err(malformed(&"a credential has 32 fields at most"));
        }
        match self.wants_integrity() {
            true => self.check_integrity(),
            false => self.check_jwt(),
        }
    }

    /// Whether it asks for credentials with Data Integrity proofs.
    pub fn wants_integrity(&self) -> bool {
        let asks = |formats: &BTreeMap<String, Value>| formats.contains_key(INTEGRITY);
        let mut descriptors = self.input_descriptors.iter();
        asks(&self.format) || descriptors.any(|one| asks(&one.format))
    }

    /// Checks that each credential is to have a proof of the cryptosuite that is known here.
    fn check_integrity(&self) -> Result<()> {
        let knows = |formats: &BTreeMap<String, Value>| {
            let suites = formats.get(INTEGRITY).map(|asked| &asked["cryptosuite"]);
            let suites = suites.and_then(Value::as_array);
            formats.is_empty()
                || suites.is_some_and(|suites| suites.iter().any(|one| one == CRYPTOSUITE))
        };
        let mut all = self.input_descriptors.iter().map(|one| &one.format);
        match knows(&self.format) && all.all(knows) {
            true => Ok(()),
            false => Err(malformed(
                &"all credentials are of the format di_vc with the cryptosuite anoncreds-2023, or none is",
            )),
        }
    }

    /// Checks that nothing is asked for that a JWT can't show.
    fn check_jwt(&self) -> Result<()> {
        for one in &self.input_descriptors {
            let mut fields = one.constraints.fields.iter();
            let proves = fields.any(|field| field.predicate.is_some());
            if proves || one.constraints.statuses.is_some() || !one.schema.is_empty() {
                return Err(malformed(
                    &"predicates, statuses and schemas are for the format di_vc",
                ));
            }
        }
        Ok(())
    }

    /// Whether a credential of this format is taken for the descriptor.
    pub fn takes(&self, descriptor: &Descriptor, format: &str) -> bool {
        let mut both = [&self.format, &descriptor.format].into_iter();
        both.all(|formats| formats.is_empty() || formats.contains_key(format))
    }
}

impl Descriptor {
    /// The claims that a credential shows to meet the constraints; `None` if it does not meet them.
    pub fn met_by(&self, held: &Held) -> Option<Vec<ClaimPath>> {
        let discloses = held.format.describe().discloses_selectively;
        if self.constraints.limit_disclosure == Some(Disclosure::Required) && !discloses {
            return None;
        }
        self.met_in(held.claims())
    }

    /// The texts that claims must be, the type of the credential among them.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        let filters = self.constraints.fields.iter();
        let filters = filters.filter_map(|field| field.filter.as_ref());
        filters.filter_map(|filter| match &filter.contains {
            Some(within) => within.is.as_ref()?.as_str(),
            None => filter.is.as_ref()?.as_str(),
        })
    }

    /// The places of the fields in the claims of a credential; `None` if they do not meet the constraints.
    pub fn met_in(&self, claims: &Value) -> Option<Vec<ClaimPath>> {
        let mut found = Vec::new();
        for field in &self.constraints.fields {
            match field.place(claims) {
                Some(path) => found.push(path),
                None if field.optional => {}
                None => return None,
            }
        }
        Some(found)
    }
}

impl Field {
    /// Where the claims meet it.
    pub(crate) fn place(&self, claims: &Value) -> Option<ClaimPath> {
        // A path of VCDM 1.1 begins with the claim of the JWT that holds the credential.
        let paths = self
            .path
            .iter()
            .map(|path| match path.strip_prefix("$.vc.") {
                Some(within) => format!("$.{within}"),
                None => path.clone(),
            });
        let mut paths = paths.filter_map(|path| claim_path::parse(&path));
        let path = paths.find(|path| !path.select(claims).is_empty())?;
        let is_met = |value: &&Value| self.filter.as_ref().is_none_or(|one| one.fits(value));
        path.select(claims).iter().any(is_met).then_some(path)
    }
}

impl Filter {
    pub(crate) fn fits(&self, value: &Value) -> bool {
        let is_one = |all: &Vec<Value>| all.contains(value);
        let has = |within: &Filter| {
            let elements = value.as_array().into_iter().flatten();
            elements.into_iter().any(|element| within.fits(element))
        };
        self.kind.is_none_or(|kind| kind.is(value))
            && self.is.as_ref().is_none_or(|is| is == value)
            && self.one_of.as_ref().is_none_or(is_one)
            && self.contains.as_deref().is_none_or(has)
            && self.bounds().iter().all(|bound| bound.holds(value))
    }

    /// The bounds of a number.
    pub fn bounds(&self) -> Vec<NumberBound> {
        let bound = |comparison: &'static str, value: Option<i32>| {
            value.map(|value| NumberBound { comparison, value })
        };
        let all = [
            bound(">=", self.minimum),
            bound("<=", self.maximum),
            bound(">", self.exclusive_minimum),
            bound("<", self.exclusive_maximum),
        ];
        all.into_iter().flatten().collect()
    }

    /// Whether it says nothing but bounds of a number.
    pub fn is_of_bounds(&self) -> bool {
        let is_number = matches!(self.kind, None | Some(JsonType::Number | JsonType::Integer));
        let is_other = self.is.is_some() || self.one_of.is_some() || self.contains.is_some();
        is_number && !is_other && !self.bounds().is_empty()
    }
}

/// A bound of a number.
pub struct NumberBound {
    /// How it is compared.
    pub comparison: &'static str,
    /// What it is compared with.
    pub value: i32,
}

impl NumberBound {
    /// Whether a number is within it.
    pub fn holds(&self, value: &Value) -> bool {
        let (number, bound) = (value.as_i64(), i64::from(self.value));
        number.is_some_and(|number| match self.comparison {
            ">=" => number >= bound,
            "<=" => number <= bound,
            ">" => number > bound,
            _ => number < bound,
        })
    }
}

impl JsonType {
    fn is(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(descriptors: Value) -> PresentationDefinition {
        let value = json!({"id": "d", "input_descriptors": descriptors});
        serde_json::from_value(value).unwrap()
    }

    fn of_fields(fields: Value) -> PresentationDefinition {
        definition(json!([{"id": "a", "constraints": {"fields": fields}}]))
    }

    #[test]
    fn a_field_is_met_at_its_first_path_that_leads_to_a_value() {
        let claims = json!({
            "type": ["VerifiableCredential", "Allergies"],
            "credentialSubject": {"patient": {"name": "Maja"}, "count": 2},
        });
        let met = |fields: Value| {
            let definition = of_fields(fields);
            definition.check().unwrap();
            let found = definition.input_descriptors[0].met_in(&claims)?;
            Some(found.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let kind = json!({"path": ["$.vct", "$.vc.type"],
            "filter": {"type": "array", "contains": {"const": "Allergies"}}});
        let name = json!({"path": ["$.patient.name", "$.credentialSubject.patient.name"]});
        assert_eq!(
            met(json!([kind, name])).unwrap(),
            ["type", "credentialSubject.patient.name"]
        );
        let other = json!({"path": ["$.type"], "filter": {"contains": {"const": "Procedures"}}});
        assert_eq!(met(json!([other])), None);
        let count = |filter: Value| {
            met(json!([{"path": ["$.credentialSubject.count"], "filter": filter}])).is_some()
        };
        assert!(count(json!({"type": "integer", "enum": [1, 2]})));
        assert!(!count(json!({"type": "string"})) && !count(json!({"enum": [3]})));
        assert!(!count(json!({"contains": {"const": 2}})));
        assert_eq!(met(json!([{"path": ["$.absent"]}])), None);
        assert_eq!(
            met(json!([{"path": ["$.absent"], "optional": true}])).unwrap(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for value in [
            json!({"id": "d", "input_descriptors": [], "submission_requirements": []}),
            json!({"id": "d", "input_descriptors": [{"id": "a", "group": ["A"], "constraints": {}}]}),
            json!({"id": "d", "input_descriptors": [{"id": "a", "constraints": {"is_holder": []}}]}),
            json!({"id": "d", "input_descriptors": [{"id": "a", "constraints": {"fields": [
                {"path": ["$.a"], "filter": {"pattern": ".*"}}]}}]}),
        ] {
            assert!(
                serde_json::from_value::<PresentationDefinition>(value.clone()).is_err(),
                "{value}"
            );
        }
        let many = |count: usize| -> Vec<Value> {
            let one = |number| json!({"id": format!("{number}"), "constraints": {}});
            (0..count).map(one).collect()
        };
        assert!(definition(many(8).into()).check().is_ok());
        assert!(definition(many(9).into()).check().is_err());
        assert!(definition(json!([])).check().is_err());
        let same = json!([{"id": "a", "constraints": {}}, {"id": "a", "constraints": {}}]);
        assert!(definition(same).check().is_err());
        assert!(of_fields(json!([{"path": []}])).check().is_err());
        assert!(of_fields(json!([{"path": ["$..a"]}])).check().is_err());
        let proven = json!([{"path": ["$.a"], "predicate": "required", "filter": {"minimum": 1}}]);
        assert!(of_fields(proven).check().is_err());
    }

    #[test]
    fn a_definition_asks_for_data_integrity_proofs_of_the_known_cryptosuite() {
        let of = |formats: Value, own: Value| {
            let mut definition = of_fields(json!([{
                "path": ["$.credentialSubject.age"],
                "predicate": "required",
                "filter": {"type": "number", "minimum": 18, "exclusiveMaximum": 65},
            }]));
            definition.format = serde_json::from_value(formats).unwrap();
            definition.input_descriptors[0].format = serde_json::from_value(own).unwrap();
            definition
        };
        let known = json!({"di_vc": {"cryptosuite": ["eddsa-rdfc-2022", "anoncreds-2023"],
            "proof_type": ["DataIntegrityProof"]}});
        for definition in [of(known.clone(), json!({})), of(json!({}), known.clone())] {
            assert!(definition.wants_integrity());
            definition.check().unwrap();
        }
        for (formats, own) in [
            (
                json!({"di_vc": {"cryptosuite": ["eddsa-rdfc-2022"]}}),
                json!({}),
            ),
            (json!({"di_vc": {}}), json!({})),
            (known, json!({"jwt_vc": {}})),
        ] {
            assert!(of(formats, own).check().is_err());
        }
    }

    #[test]
    fn a_number_is_within_its_bounds() {
        let filter = |value: Value| serde_json::from_value::<Filter>(value).unwrap();
        let bounds = filter(json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 3}));
        assert!(bounds.is_of_bounds());
        for (value, fits) in [
            (json!(0), false),
            (json!(1), true),
            (json!(2), true),
            (json!(3), false),
        ] {
            assert_eq!(bounds.fits(&value), fits, "{value}");
        }
        assert!(!bounds.fits(&json!("2")));
        assert!(!filter(json!({"type": "number"})).is_of_bounds());
        assert!(!filter(json!({"minimum": 1, "const": 2})).is_of_bounds());
    }
}
