//! A mapping as the fields of a form, and the field at each place of a mapping.

use serde_json::Value;

use crate::mapping::{
    AddressMapping, AnonCredsMapping, AttributeMapping, BookMapping, ClaimNames, InactiveMapping,
    NameMapping, RelationshipMapping, TopicMapping,
};

/// Rows of each list that are read. A type may have fewer, which its check tells.
const ROWS_MAX: usize = 40;

/// Lines of a field that are read. A list may have fewer, which the check of the type tells.
const LINES_MAX: usize = 200;

/// The parts of an address that are one claim each: the name of the field, and its label.
pub const ADDRESS_PARTS: [(&str, &str); 5] = [
    ("addressee", "Addressee"),
    ("city", "City"),
    ("province", "Province"),
    ("postal_code", "Postal code"),
    ("country", "Country"),
];

/// The mapping that the fields of a form describe. `field` gives the value of a field, unless it is absent or empty.
/// Rows without any value are left out.
pub fn read<'a>(field: impl Fn(&str) -> Option<&'a str>) -> BookMapping {
    let fields = Fields(&field);
    BookMapping {
        topic: TopicMapping {
            kind: fields.text("topic.type"),
            source_id: fields.claim("topic.source_id").unwrap_or_default(),
            founds: fields.is_set("topic.founds"),
        },
        automatic: fields.is_set("automatic"),
        names: rows(|row| fields.name(row)),
        addresses: rows(|row| fields.address(row)),
        attributes: rows(|row| fields.attribute(row)),
        relationships: rows(|row| fields.relationship(row)),
        cardinality: rows(|row| fields.claim(&format!("cardinality.{row}"))),
        effective_date: fields.claim("effective_date"),
        expiry_date: fields.claim("expiry_date"),
        inactive: fields.inactive(),
        anoncreds: AnonCredsMapping {
            received: fields.is_set("anoncreds.received"),
            schemas: fields.lines("anoncreds.schemas"),
            definitions: fields.lines("anoncreds.definitions"),
        },
    }
}

/// The name of the field at a place of the mapping: `names.0.type` for `book.names[0].type`.
#[must_use]
pub fn field_at(place: &str) -> String {
    let place = place.strip_prefix("book.").unwrap_or(place);
    place.replace('[', ".").replace(']', "")
}

/// The value of a field that names a claim.
#[must_use]
pub fn value_of(path: &[String]) -> String {
    Value::from(path).to_string()
}

/// The rows of a list that have a value.
fn rows<T>(row: impl Fn(usize) -> Option<T>) -> Vec<T> {
    (0..ROWS_MAX).filter_map(row).collect()
}

struct Fields<'f, F>(&'f F);

impl<'a, F: Fn(&str) -> Option<&'a str>> Fields<'_, F> {
    fn one(&self, name: &str) -> Option<&'a str> {
        (self.0)(name)
    }

    fn text(&self, name: &str) -> String {
        self.one(name).unwrap_or_default().to_owned()
    }

    fn is_set(&self, name: &str) -> bool {
        self.one(name) == Some("true")
    }

    /// The lines of a field that are not blank, at most one more than any list may have.
    fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.one(name).unwrap_or_default().lines();
        let trimmed = lines.map(|line| line.trim().to_owned());
        let filled = trimmed.filter(|line| !line.is_empty());
        filled.take(LINES_MAX).collect()
    }

    /// The claim that a field names. What is no path is kept as the name of a claim, which no type has.
    fn claim(&self, name: &str) -> Option<ClaimNames> {
        let text = self.one(name)?;
        Some(serde_json::from_str(text).unwrap_or_else(|_| vec![text.to_owned()]))
    }

    fn name(&self, row: usize) -> Option<NameMapping> {
        let kind = self.text(&format!("names.{row}.type"));
        let claim = self.claim(&format!("names.{row}.claim"));
        (!kind.is_empty() || claim.is_some()).then(|| NameMapping {
            kind,
            claim: claim.unwrap_or_default(),
        })
    }

    fn address(&self, row: usize) -> Option<AddressMapping> {
        let part = |part: &str| self.claim(&format!("addresses.{row}.{part}"));
        let address = AddressMapping {
            addressee: part("addressee"),
            civic_address: rows(|line| part(&format!("civic_address.{line}"))),
            city: part("city"),
            province: part("province"),
            postal_code: part("postal_code"),
            country: part("country"),
        };
        (address != AddressMapping::default()).then_some(address)
    }

    fn attribute(&self, row: usize) -> Option<AttributeMapping> {
        let kind = self.text(&format!("attributes.{row}.type"));
        let claim = self.claim(&format!("attributes.{row}.claim"));
        (!kind.is_empty() || claim.is_some()).then(|| AttributeMapping {
            kind,
            claim: claim.unwrap_or_default(),
            facet: self.is_set(&format!("attributes.{row}.facet")),
        })
    }

    fn relationship(&self, row: usize) -> Option<RelationshipMapping> {
        let relation = self.text(&format!("relationships.{row}.relation"));
        let kind = self.text(&format!("relationships.{row}.type"));
        let source_id = self.claim(&format!("relationships.{row}.source_id"));
        let is_blank = relation.is_empty() && kind.is_empty() && source_id.is_none();
        (!is_blank).then(|| RelationshipMapping {
            relation,
            kind,
            source_id: source_id.unwrap_or_default(),
        })
    }

    fn inactive(&self) -> Option<InactiveMapping> {
        let claim = self.claim("inactive.claim");
        let values = self.lines("inactive.values");
        (claim.is_some() || !values.is_empty()).then(|| InactiveMapping {
            claim: claim.unwrap_or_default(),
            values,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The fields of a form that shows a mapping.
    fn fields(mapping: &BookMapping) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for (place, kind) in mapping.kinds() {
            all.insert(field_at(&place), kind.to_owned());
        }
        let mut lines = 0;
        for (place, path) in mapping.claims() {
            let mut field = field_at(&place);
            if field.ends_with(".civic_address") {
                field = format!("{field}.{lines}");
                lines += 1;
            }
            all.insert(field, value_of(path));
        }
        for (name, is_set) in [
            ("topic.founds", mapping.topic.founds),
            ("automatic", mapping.automatic),
            ("anoncreds.received", mapping.anoncreds.received),
        ] {
            if is_set {
                all.insert(name.to_owned(), "true".to_owned());
            }
        }
        for (row, attribute) in mapping.attributes.iter().enumerate() {
            if attribute.facet {
                all.insert(format!("attributes.{row}.facet"), "true".to_owned());
            }
        }
        if let Some(inactive) = &mapping.inactive {
            all.insert("inactive.values".to_owned(), inactive.values.join("\r\n"));
        }
        for (name, ids) in [
            ("anoncreds.schemas", &mapping.anoncreds.schemas),
            ("anoncreds.definitions", &mapping.anoncreds.definitions),
        ] {
            all.insert(name.to_owned(), ids.join("\r\n"));
        }
        all
    }

    fn mapping() -> BookMapping {
        serde_json::from_value(serde_json::json!({
            "topic": {"type": "registration.registries.ca", "source_id": ["number"]},
            "automatic": true,
            "names": [{"type": "entity_name", "claim": ["name"]}],
            "addresses": [{"civic_address": [["line", "1"], ["line", "2"]], "city": ["city"]}],
            "attributes": [{"type": "kind", "claim": ["a.b"], "facet": true}, {"type": "state", "claim": ["state"]}],
            "relationships": [{"relation": "owned_by", "type": "person", "source_id": ["owner"]}],
            "cardinality": [["kind"], ["state"]],
            "effective_date": ["since"],
            "inactive": {"claim": ["state"], "values": ["HIS", "OLD"]},
            "anoncreds": {"received": true, "schemas": ["did:web:a.example/s"], "definitions": ["did:web:a.example/d", "e"]},
        }))
        .unwrap()
    }

    #[test]
    fn a_form_that_shows_a_mapping_describes_it() {
        let fields = fields(&mapping());
        let read = read(|name| fields.get(name).map(String::as_str));
        assert_eq!(read, mapping());
    }

    #[test]
    fn rows_without_a_value_are_left_out_and_half_a_row_is_kept_to_be_refused() {
        let mut fields = fields(&mapping());
        fields.remove("names.0.type");
        fields.insert("names.7.type".to_owned(), "other".to_owned());
        let read = read(|name| fields.get(name).map(String::as_str));
        let names: Vec<_> = read
            .names
            .iter()
            .map(|one| (one.kind.as_str(), one.claim.len()))
            .collect();
        assert_eq!(names, [("", 1), ("other", 0)]);
    }

    proptest! {
        #[test]
        fn no_fields_break_the_reading(fields in prop::collection::btree_map("(names|addresses|cardinality|topic)\\.[0-9]{0,2}\\.?[a-z_]{0,12}", any::<String>(), 0..20)) {
            let mapping = read(|name| fields.get(name).map(String::as_str));
            prop_assert!(mapping.names.len() <= ROWS_MAX);
        }
    }
}
