//! The reasons of the checks, each at the field of the form that it is about.

use selfsame_driver::{Reason, Value};

use super::TypeForm;
use super::rows::ClaimRow;

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProblem {
    /// The name of the field; `file` for what the form doesn't show.
    pub field: String,
    /// What the form calls the field.
    pub name: &'static str,
    /// The place that the reason names.
    pub place: String,
    /// The reason.
    pub reason: Reason,
}

impl FieldProblem {
    /// The reason at a field of this name, in its own words.
    #[must_use]
    pub fn of(field: &str, reason: Reason) -> Self {
        Self {
            field: field.to_owned(),
            name: "",
            place: String::new(),
            reason,
        }
    }
}

impl TypeForm {
    /// The reasons of a check of [`Self::definition`], each with its field.
    #[must_use]
    pub fn at_fields(&self, reasons: Vec<Reason>) -> Vec<FieldProblem> {
        reasons
            .into_iter()
            .map(|reason| self.at_field(reason))
            .collect()
    }

    fn at_field(&self, reason: Reason) -> FieldProblem {
        let place = match reason.parameter("place") {
            Some(Value::Text(place)) => place.clone(),
            _ => String::new(),
        };
        let by_reason = match reason.id() {
            "type-id" | "type-id-reserved" | "type-id-taken" => Some("id"),
            "type-validity" => Some("validity_days"),
            "type-single-use" => Some("single_use"),
            "type-contrast" => Some("text_color"),
            "type-icon" => Some("icon"),
            _ => None,
        };
        let (field, name) = match by_reason {
            Some(field) => (field.to_owned(), ""),
            None => self.field_at(&place).unwrap_or(("file".to_owned(), "")),
        };
        FieldProblem {
            field,
            name,
            place,
            reason,
        }
    }

    /// The field at a place of the definition, and its name for people.
    fn field_at(&self, place: &str) -> Option<(String, &'static str)> {
        let beside: Vec<&ClaimRow> = written(&self.rows);
        if let Some((number, rest)) = element(place, "claims[") {
            let row = beside.get(number)?;
            if let Some((inner, rest)) = element(rest, "claims[")
                && row.members.iter().any(|member| !member.is_blank())
            {
                let members = written(&row.members);
                return Some(of_row(members.get(inner)?, rest));
            }
            return Some(of_row(row, rest));
        }
        if let Some((number, _)) = element(place, "card.front[") {
            let front = self.definition().card.front;
            let path = front.get(number)?.join(".");
            let row = beside.iter().find(|row| row.name == path)?;
            return Some((format!("{}.front", row.key), "Shown on the card"));
        }
        let (head, rest) = place.split_once('.').unwrap_or((place, ""));
        let second = !self.second_language.is_empty() && rest == self.second_language;
        let (field, name) = match (head, rest) {
            ("title", _) => ("title", "Name"),
            ("description", _) => ("description", "Description"),
            ("claims", "") => ("claims", "The type"),
            ("card", "background_color") => ("background_color", "Background colour"),
            ("card", "text_color") => ("text_color", "Text colour"),
            ("card", "front") => ("claims", "Shown on the card"),
            ("card", rest) if rest.starts_with("logo.alt_text") => {
                ("logo_text", "Text alternative")
            }
            ("card", rest) if rest.starts_with("logo") => ("logo_file", "Logo"),
            _ => return None,
        };
        match second {
            true => Some((format!("{field}.second"), name)),
            false => Some((field.to_owned(), name)),
        }
    }
}

/// The rows that the definition has.
fn written(rows: &[ClaimRow]) -> Vec<&ClaimRow> {
    rows.iter().filter(|row| !row.is_blank()).collect()
}

/// The number of an element, and what follows it: of `claims[2].path`, 2 and `path`.
fn element<'a>(place: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let (number, rest) = place.strip_prefix(list)?.split_once(']')?;
    Some((number.parse().ok()?, rest.trim_start_matches('.')))
}

fn of_row(row: &ClaimRow, member: &str) -> (String, &'static str) {
    let (member, _) = member.split_once(['.', '[']).unwrap_or((member, ""));
    let (field, name) = match member {
        "path" => ("name", "Name"),
        "label" => ("label", "Label"),
        "values" => ("values", "Values"),
        "disclosed" => ("disclosed", "Disclosed"),
        "of" => ("of", "Each element"),
        "claims" => ("kind", "The object"),
        "help" => ("name", "The help text"),
        "example" => ("name", "The example"),
        "pattern" => ("name", "The pattern"),
        "max_length" => ("name", "The maximum length"),
        "min" | "max" => ("name", "The range"),
        _ => ("kind", "Kind"),
    };
    (format!("{}.{field}", row.key), name)
}
