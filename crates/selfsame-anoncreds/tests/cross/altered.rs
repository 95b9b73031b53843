//! Messages with one change each.

use serde_json::{Value, json};

use crate::dice::Dice;

/// One change, and the changed message.
pub struct Altered {
    /// The kind of change, and the field.
    pub what: String,
    /// The message as JSON text.
    pub text: Value,
}

/// The message with each of its fields changed in turn, and each of its members removed.
pub fn alterations(dice: &mut Dice, text: &Value) -> Vec<Altered> {
    let message: Value = serde_json::from_str(text.as_str().expect("a message")).expect("JSON");
    let mut altered = Vec::new();
    for path in paths(&message) {
        let mut changed = message.clone();
        let field = changed.pointer_mut(&path).expect("a path of this message");
        if change(dice, field) {
            altered.push(Altered {
                what: format!("{path} changed"),
                text: json!(changed.to_string()),
            });
        }
        let mut less = message.clone();
        remove(&mut less, &path);
        altered.push(Altered {
            what: format!("{path} gone"),
            text: json!(less.to_string()),
        });
    }
    altered
}

/// All locations below the root, as JSON pointers.
fn paths(message: &Value) -> Vec<String> {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let members: Vec<(String, &Value)> = match message {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (escaped(key), value))
            .collect(),
        Value::Array(members) => members
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    let mut paths = Vec::new();
    for (key, value) in members {
        paths.push(format!("/{key}"));
        paths.extend(
            self::paths(value)
                .iter()
                .map(|below| format!("/{key}{below}")),
        );
    }
    paths
}

/// Changes a leaf to another of its kind; leaves `null`, arrays and objects unchanged.
fn change(dice: &mut Dice, leaf: &mut Value) -> bool {
    match leaf {
        Value::String(text) => *text = other_text(dice, text),
        Value::Number(number) => {
            *leaf = json!(number.as_i64().expect("a small number").wrapping_add(1))
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Null | Value::Array(_) | Value::Object(_) => return false,
    }
    true
}

/// A text of the same kind with one character changed: a digit of a number, otherwise any character.
fn other_text(dice: &mut Dice, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return "x".to_owned();
    }
    // Not the first character: that would also change a number's length, which is a separate case.
    let first = usize::from(characters.len() > 1);
    let candidates: Vec<usize> = (first..characters.len())
        .filter(|at| characters[*at] != ' ')
        .collect();
    let at = *dice.pick(&candidates);
    characters[at] = match characters[at] {
        digit @ '0'..='8' => char::from(digit as u8 + 1),
        '9' => '0',
        'A' => 'B',
        _ => 'A',
    };
    characters.into_iter().collect()
}

fn remove(message: &mut Value, path: &str) {
    let (parent, key) = path.rsplit_once('/').expect("a path below the root");
    let key = key.replace("~1", "/").replace("~0", "~");
    match message.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.remove(&key)),
        Some(Value::Array(members)) => drop(members.remove(key.parse().expect("a place"))),
        _ => unreachable!("{path} is below something with members"),
    }
}
