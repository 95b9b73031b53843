//! Lists and nested claims as a small table, in the words and the order of the credential's type.

use std::collections::BTreeMap;

use selfsame_core::view::readable;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Tables with more columns are shown as text.
const COLUMNS_MAX: usize = 12;

/// A list of objects, or one object, as a table: a row for each object, a column for each member.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ClaimTable {
    /// The labels of the columns.
    pub columns: Vec<String>,
    /// The names that lead to the member in each column.
    pub paths: Vec<Vec<String>>,
    /// The rows, with as many texts as there are columns; empty where an object lacks the member.
    pub rows: Vec<Vec<String>>,
}

/// The label of a member of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MemberLabel {
    /// The names that lead to it from the object.
    pub path: Vec<String>,
    /// Its label.
    pub label: String,
}

/// The texts of one object, by the names that lead to them.
type Leaves = BTreeMap<Vec<String>, String>;

impl ClaimTable {
    /// The table of this value; `None` if it is not an object or a list of objects. Members come in the order of their
    /// labels; after them those that have none, so that nothing is left out.
    #[must_use]
    pub fn of(value: &Value, members: &[MemberLabel]) -> Option<Self> {
        let objects = objects(value)?;
        let rows: Vec<Leaves> = objects.into_iter().map(leaves_of).collect();
        let mut columns: Vec<MemberLabel> = Vec::new();
        for member in members {
            let is_covered = columns
                .iter()
                .any(|column| member.path.starts_with(&column.path));
            if !is_covered && has_any(&rows, &member.path) {
                columns.push(member.clone());
            }
        }
        for path in rows.iter().flat_map(Leaves::keys) {
            if !columns.iter().any(|column| path.starts_with(&column.path)) {
                columns.push(MemberLabel {
                    path: path.clone(),
                    label: in_words(path),
                });
            }
        }
        let cells = |row: &Leaves| {
            columns
                .iter()
                .map(|column| cell(row, &column.path))
                .collect()
        };
        Some(Self {
            rows: rows.iter().map(cells).collect(),
            columns: columns
                .iter()
                .map(|column| readable(&column.label))
                .collect(),
            paths: columns.into_iter().map(|column| column.path).collect(),
        })
    }

    /// The table as text: a line for each row.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |row: &Vec<String>| {
            let cells = self.columns.iter().zip(row);
            let told = cells.filter(|(_, text)| !text.is_empty());
            let told: Vec<String> = told
                .map(|(label, text)| format!("{label}: {text}"))
                .collect();
            told.join(" · ")
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Whether it is too wide to be read.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.columns.len() > COLUMNS_MAX
    }
}

/// A value without members, as text.
#[must_use]
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Object(members) if !members.is_empty() => {
            let told = members.iter();
            let told = told.map(|(name, value)| format!("{}: {}", words(name), plain(value)));
            told.collect::<Vec<_>>().join(" · ")
        }
        Value::Null | Value::Array(_) | Value::Object(_) => "–".to_owned(),
    }
}

fn objects(value: &Value) -> Option<Vec<&Map<String, Value>>> {
    match value {
        Value::Object(members) if !members.is_empty() => Some(vec![members]),
        Value::Array(items) if !items.is_empty() => items.iter().map(Value::as_object).collect(),
        _ => None,
    }
}

fn leaves_of(object: &Map<String, Value>) -> Leaves {
    let mut leaves = Leaves::new();
    for (name, value) in object {
        collect(&mut vec![name.clone()], value, &mut leaves);
    }
    leaves
}

fn collect(path: &mut Vec<String>, value: &Value, leaves: &mut Leaves) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                path.push(name.clone());
                collect(path, value, leaves);
                path.pop();
            }
        }
        value => {
            leaves.insert(path.clone(), readable(&plain(value)));
        }
    }
}

fn has_any(rows: &[Leaves], path: &[String]) -> bool {
    let mut leaves = rows.iter().flat_map(Leaves::keys);
    leaves.any(|leaf| leaf.starts_with(path))
}

/// What one object has at and below a path.
fn cell(row: &Leaves, path: &[String]) -> String {
    let within = row.iter().filter(|(leaf, _)| leaf.starts_with(path));
    let told = within.map(|(leaf, text)| match leaf.get(path.len()..) {
        Some(rest) if !rest.is_empty() => format!("{}: {text}", in_words(rest)),
        _ => text.clone(),
    });
    told.collect::<Vec<_>>().join(" · ")
}

fn in_words(path: &[String]) -> String {
    let words: Vec<String> = path.iter().map(|name| words(name)).collect();
    words.join(" · ")
}

/// A member's name as words.
fn words(name: &str) -> String {
    readable(&name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn labels(all: &[(&[&str], &str)]) -> Vec<MemberLabel> {
        let label = |(path, label): &(&[&str], &str)| MemberLabel {
            path: path.iter().map(|&name| name.to_owned()).collect(),
            label: (*label).to_owned(),
        };
        all.iter().map(label).collect()
    }

    #[test]
    fn a_list_is_a_table_in_the_words_and_the_order_of_its_labels() {
        let doses = json!([
            {"date": "2026-03-02", "lot": "A", "number": 1},
            {"date": "2026-03-23", "number": 2, "extra": {"deep": true}},
        ]);
        let known = labels(&[
            (&["number"], "Dose"),
            (&["date"], "Date"),
            (&["lot"], "Lot"),
            (&["site"], "Site"),
        ]);
        let table = ClaimTable::of(&doses, &known).unwrap();
        assert_eq!(table.columns, ["Dose", "Date", "Lot", "extra · deep"]);
        assert_eq!(
            table.rows,
            [["1", "2026-03-02", "A", ""], ["2", "2026-03-23", "", "yes"]]
        );
        assert_eq!(
            table.text(),
            "Dose: 1 · Date: 2026-03-02 · Lot: A\nDose: 2 · Date: 2026-03-23 · extra · deep: yes"
        );
    }

    #[test]
    fn an_object_has_one_row_and_a_labelled_branch_one_column() {
        let value = json!({"name": {"family": "M", "given": ["A", "B"]}});
        let table = ClaimTable::of(&value, &labels(&[(&["name"], "Name")])).unwrap();
        assert_eq!(table.columns, ["Name"]);
        assert_eq!(table.rows, [["family: M · given: A, B"]]);
    }

    #[test]
    fn other_values_are_no_tables() {
        for value in [
            json!("x"),
            json!([1, 2]),
            json!([{"a": 1}, 2]),
            json!([]),
            json!({}),
        ] {
            assert_eq!(ClaimTable::of(&value, &[]), None, "{value}");
        }
    }
}
