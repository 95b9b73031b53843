//! Credentials and presentations as messages have them: a string, or an object where the format is JSON (OpenID4VCI 1.0
//! §A.1.2, OpenID4VP 1.0 §8.1). Here each is a text: the string, or that of the object.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The text of a credential or a presentation.
struct CredentialText(String);

impl Serialize for CredentialText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for CredentialText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

/// Writes a text as it is sent. No other format has texts that begin as an object does.
pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let object = text
        .starts_with('{')
        .then(|| serde_json::from_str(text).ok());
    match object.flatten() {
        Some(object @ Value::Object(_)) => object.serialize(serializer),
        _ => serializer.serialize_str(text),
    }
}

/// Reads a text as it was sent. A string that begins as an object does is refused: it would be sent on as another thing.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) if !text.starts_with('{') => Ok(text),
        object @ Value::Object(_) => Ok(object.to_string()),
        _ => Err(serde::de::Error::custom(
            "a string or an object is expected",
        )),
    }
}

/// Presentations by credential query.
pub(crate) mod lists {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    use super::CredentialText;

    type Lists<T> = BTreeMap<String, Vec<T>>;

    /// As they are sent.
    pub(crate) fn to_value(lists: &Lists<String>) -> Value {
        let sent = lists.iter().map(|(id, list)| {
            let list = list.iter().cloned().map(CredentialText);
            (id, list.collect::<Vec<_>>())
        });
        let sent: BTreeMap<_, _> = sent.collect();
        serde_json::to_value(sent).unwrap_or_default()
    }

    /// As they were sent.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Lists<String>, D::Error> {
        let read = Lists::<CredentialText>::deserialize(deserializer)?.into_iter();
        let texts = |list: Vec<CredentialText>| list.into_iter().map(|one| one.0).collect();
        Ok(read.map(|(id, list)| (id, texts(list))).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Option<String> {
        let read: Result<CredentialText, _> = serde_json::from_value(value);
        read.ok().map(|one| one.0)
    }

    #[test]
    fn an_object_is_a_text_here_and_an_object_again_where_it_is_sent() {
        let object = json!({"type": ["VerifiableCredential"], "n": 1.5});
        let text = read(object.clone()).unwrap();
        assert_eq!(serde_json::to_value(CredentialText(text)).unwrap(), object);
        let text = read(json!("a.b.c")).unwrap();
        assert_eq!(text, "a.b.c");
        assert_eq!(
            serde_json::to_value(CredentialText(text)).unwrap(),
            json!("a.b.c")
        );
    }

    #[test]
    fn what_is_neither_or_would_change_on_the_way_is_refused() {
        for bad in [json!(1), json!(null), json!([]), json!("{}"), json!(true)] {
            assert_eq!(read(bad.clone()), None, "{bad}");
        }
    }
}
