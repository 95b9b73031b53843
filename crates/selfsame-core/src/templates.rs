//! The types of credentials that this instance can issue (six for healthcare, one for machines), and how claims fill
//! them.

mod template;

use std::sync::LazyLock;

use selfsame_credential::{ClaimPath, Format};
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value};

pub use template::{ClaimField, ClaimKind, ItemField, Labels, Template, TypicalRequest};

/// The templates that come with every instance.
const FILES: [&str; 7] = [
    include_str!("../templates/allergies.json"),
    include_str!("../templates/clinical-notes.json"),
    include_str!("../templates/immunization.json"),
    include_str!("../templates/laboratory-results.json"),
    include_str!("../templates/machine.json"),
    include_str!("../templates/prescription.json"),
    include_str!("../templates/procedures.json"),
];

/// All templates; a file that does not parse is skipped here and detected by a test.
static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    FILES
        .iter()
        .filter_map(|file| serde_json::from_str(file).ok())
        .collect()
});

/// All templates, in the order of the pages.
#[must_use]
pub fn all() -> &'static [Template] {
    &TEMPLATES
}

/// The template of this name.
///
/// # Errors
/// `NotFound`, with the existing names.
pub fn find(id: &str) -> Result<&'static Template> {
    all()
        .iter()
        .find(|template| template.id == id)
        .ok_or_else(|| {
            let names: Vec<&str> = all().iter().map(|template| template.id.as_str()).collect();
            Error::not_found("template-unknown")
                .with("template", &id)
                .with("known", &names.join(", "))
        })
}

impl Template {
    /// The type of its SD-JWT VCs, for an issuer whose types begin with `base`.
    #[must_use]
    pub fn vct(&self, base: &str) -> String {
        format!("{base}{}", self.vct)
    }

    /// The claims of a credential: those given, checked, and with `examples` the template's examples for the others.
    ///
    /// # Errors
    /// `BadRequest` for a claim that the template does not have, that has the wrong kind, or that is missing.
    pub fn fill(&self, given: &Map<String, Value>, examples: bool) -> Result<Map<String, Value>> {
        let mut filled = Map::new();
        let mut known = 0;
        for field in &self.claims {
            let value = at(given, &field.path);
            known += usize::from(value.is_some());
            match value {
                Some(value) => {
                    field.check(value)?;
                    put(&mut filled, &field.path, value.clone());
                }
                None if examples => put(&mut filled, &field.path, field.example.clone()),
                None if field.mandatory => {
                    return Err(
                        Error::bad_request("claim-missing").with("claim", &field.path.join("."))
                    );
                }
                None => {}
            }
        }
        if known < leaves(given, &self.claims, &mut Vec::new()) {
            return Err(Error::bad_request("claim-unknown").with("template", &self.id));
        }
        Ok(filled)
    }
}

impl ClaimField {
    /// The field's name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label
            .get("en")
            .or_else(|| self.label.values().next())
            .or(self.path.last())
            .map_or("", String::as_str)
    }

    fn check(&self, value: &Value) -> Result<()> {
        let wrong = |which: &str, kind: ClaimKind| {
            Error::bad_request("claim-of-other-kind")
                .with("claim", which)
                .with_reason("kind", kind.expected())
        };
        let name = self.path.join(".");
        if !self.kind.fits(value) {
            return Err(wrong(&name, self.kind));
        }
        if self.items.is_empty() {
            return Ok(());
        }
        for element in value.as_array().into_iter().flatten() {
            let element = element.as_object().ok_or_else(|| {
                Error::bad_request("claim-element-no-object").with("claim", &name)
            })?;
            for (member, value) in element {
                let item = self.items.iter().find(|item| item.name == *member);
                let item = item.ok_or_else(|| {
                    Error::bad_request("claim-member-unknown")
                        .with("claim", &name)
                        .with("member", &member)
                })?;
                if !item.kind.fits(value) {
                    return Err(wrong(&format!("{name}.{member}"), item.kind));
                }
            }
        }
        Ok(())
    }
}

/// The value at a path of member names.
#[must_use]
pub fn at<'a>(object: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = object.get(first)?;
    if rest.is_empty() {
        Some(value)
    } else {
        at(value.as_object()?, rest)
    }
}

fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        object.insert(first.clone(), value);
    } else if let Value::Object(inner) = object
        .entry(first.clone())
        .or_insert_with(|| Value::Object(Map::new()))
    {
        put(inner, rest, value);
    }
}

/// Counts the values given, at the level of the template's fields.
fn leaves(object: &Map<String, Value>, fields: &[ClaimField], prefix: &mut Vec<String>) -> usize {
    let mut count = 0;
    for (name, value) in object {
        prefix.push(name.clone());
        let is_field = fields.iter().any(|field| field.path == *prefix);
        count += match value {
            Value::Object(inner) if !is_field => leaves(inner, fields, prefix).max(1),
            _ => 1,
        };
        prefix.pop();
    }
    count
}

/// The path to a template's claim within a credential of this format.
///
/// # Errors
/// `Internal` for an empty path.
pub fn claim_path(path: &[String], format: Format) -> Result<ClaimPath> {
    let within = format.describe().subject_claim;
    ClaimPath::of_names(within.into_iter().chain(path.iter().map(String::as_str)))
        .map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_parses_and_its_examples_fill_it() {
        assert_eq!(all().len(), FILES.len());
        for template in all() {
            let filled = template.fill(&Map::new(), true).unwrap();
            assert!(!filled.is_empty());
            assert_eq!(
                template.fill(&filled, false).unwrap(),
                filled,
                "{}",
                template.id
            );
            for path in &template.request.claims {
                assert!(
                    template.claims.iter().any(|field| field.path == *path),
                    "{} asks {path:?}",
                    template.id
                );
            }
        }
    }

    #[test]
    fn a_claim_of_no_template_is_refused() {
        let template = find("immunization").unwrap();
        let mut given = template.fill(&Map::new(), true).unwrap();
        given.insert("shoe_size".to_owned(), Value::from(44));
        assert!(template.fill(&given, false).is_err());
    }

    #[test]
    fn a_date_of_any_year_is_taken_and_what_is_none_is_refused() {
        let template = find("immunization").unwrap();
        let born = |date: &str| {
            let given = serde_json::json!({"patient": {"birth_date": date}});
            template.fill(given.as_object().unwrap(), true)
        };
        assert!(born("1948-07-09").is_ok() && born("1896-02-29").is_ok());
        assert!(born("1900-02-29").is_err() && born("1948-07-09T00:00:00Z").is_err());
    }

    #[test]
    fn a_missing_mandatory_claim_is_named() {
        let error = find("immunization")
            .unwrap()
            .fill(&Map::new(), false)
            .unwrap_err();
        assert_eq!(error.reason.id(), "claim-missing");
    }

    #[test]
    fn the_elements_of_a_list_hold_what_the_template_says_and_nothing_else() {
        let template = find("allergies").unwrap();
        let mut given = template.fill(&Map::new(), true).unwrap();
        let mut with = |element: Value| {
            given.insert("allergies".to_owned(), serde_json::json!([element]));
            template.fill(&given, false)
        };
        assert!(with(serde_json::json!({"substance": "Latex", "onset": "2020-05-01"})).is_ok());
        for wrong in [
            serde_json::json!("Latex"),
            serde_json::json!({"substance": 7}),
            serde_json::json!({"onset": "last year"}),
            serde_json::json!({"substance": "Latex", "price": "free"}),
        ] {
            assert!(with(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
