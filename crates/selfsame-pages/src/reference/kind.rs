//! The kind of a JSON value, as the reference names it.

use serde_json::Value;

/// The kind of a value: words, then the name of a type of the description, if it is one.
pub struct Kind {
    /// Its words before the type's name, such as `list of`.
    pub words: String,
    /// The type's name.
    pub schema: Option<String>,
    /// Whether the value may be null.
    pub nullable: bool,
}

impl Kind {
    /// The kind that a schema describes.
    pub fn of(schema: &Value) -> Self {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return Self {
                words: String::new(),
                schema: Some(name.to_owned()),
                nullable: false,
            };
        }
        let alternatives = ["oneOf", "anyOf", "allOf"].into_iter();
        if let Some(of) = alternatives
            .filter_map(|word| schema[word].as_array())
            .next()
        {
            return Self::of_alternatives(of);
        }
        Self::plain(schema)
    }

    fn of_alternatives(of: &[Value]) -> Self {
        let is_null = |schema: &&Value| schema["type"] == "null";
        let nullable = of.iter().any(|schema| is_null(&schema));
        let first = of.iter().find(|schema| !is_null(schema));
        let kind = first.map_or_else(|| Self::plain(&Value::Null), Self::of);
        Self { nullable, ..kind }
    }

    fn plain(schema: &Value) -> Self {
        let named = match &schema["type"] {
            Value::Array(types) => types.iter().find(|kind| *kind != "null"),
            other => Some(other),
        };
        let nullable = schema["type"]
            .as_array()
            .is_some_and(|types| types.iter().any(|kind| kind == "null"));
        let words = words(schema);
        match named.and_then(Value::as_str) {
            Some("array") => {
                let items = Self::of(&schema["items"]);
                Self {
                    words: format!("list of {}", items.words).trim_end().to_owned(),
                    schema: items.schema,
                    nullable,
                }
            }
            Some(_) if !words.is_empty() => Self::named(&words.join(" | "), nullable),
            Some(name) => Self::named(name, nullable),
            None => Self::named("any", false),
        }
    }

    fn named(words: &str, nullable: bool) -> Self {
        Self {
            words: words.to_owned(),
            schema: None,
            nullable,
        }
    }
}

/// The words that a value may be; none if it may be others.
pub fn words(schema: &Value) -> Vec<String> {
    let words = schema["enum"].as_array().into_iter().flatten();
    words.filter_map(Value::as_str).map(str::to_owned).collect()
}
