//! How much memory parsed JSON takes: up to eighty times the length of its text.

use serde::Serialize;
use serde_json::Value;

/// The size of a `Value` itself, without what it points to.
const IN_PLACE: usize = size_of::<Value>();
/// The size of a node of an object's map: eleven names and values, a count and a link.
const NODE: usize = 11 * (size_of::<String>() + IN_PLACE) + 16;
/// The minimum number of members in a node, except the last.
const LEAST_IN_NODE: usize = 5;
/// The overhead of each allocation, in bytes.
const ALLOCATED: usize = 16;

/// The memory that a value takes, in bytes. Estimated high rather than low.
pub fn weight(value: &Value) -> usize {
    let elsewhere = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.capacity().saturating_add(ALLOCATED),
        Value::Array(elements) => {
            let room = elements.capacity().saturating_sub(elements.len());
            let spare = room.saturating_mul(IN_PLACE);
            let all = elements.iter().map(weight);
            all.fold(spare.saturating_add(ALLOCATED), usize::saturating_add)
        }
        Value::Object(members) => {
            let nodes = members.len().div_ceil(LEAST_IN_NODE);
            let all = members.iter().map(|(name, value)| {
                let name = name.capacity().saturating_add(ALLOCATED);
                weight(value).saturating_add(name)
            });
            let nodes = nodes.saturating_mul(NODE.saturating_add(ALLOCATED));
            all.fold(nodes, usize::saturating_add)
        }
    };
    elsewhere.saturating_add(IN_PLACE)
}

/// The memory, in bytes, that `value` would take as JSON. If the type keeps unknown members as JSON, its own size is of
/// the same order.
pub fn weight_of(value: &impl Serialize) -> usize {
    serde_json::to_value(value).map_or(usize::MAX, |value| weight(&value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_small_objects_weigh_far_more_than_their_text() {
        let small: Vec<Value> = (0..1_000).map(|_| json!({ "a": 0 })).collect();
        let value = Value::Array(small);
        let text = value.to_string().len();
        assert!(weight(&value) > 80 * text, "{} of {text}", weight(&value));
    }

    #[test]
    fn a_long_text_weighs_little_more_than_itself() {
        let value = json!("x".repeat(10_000));
        assert!((10_000..10_100).contains(&weight(&value)));
    }
}
