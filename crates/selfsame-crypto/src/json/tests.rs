use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;

fn read(text: &str) -> Result<Value, JsonError> {
    parse(text.as_bytes(), &Limits::default())
}

#[test]
fn members_named_twice_are_refused_at_any_depth() {
    assert_eq!(read(r#"{"a":1,"a":1}"#), Err(JsonError::Duplicate));
    assert_eq!(
        read(r#"[{"b":{"a":1,"\u0061":2}}]"#),
        Err(JsonError::Duplicate)
    );
    assert_eq!(
        read(r#"{"a":{"a":1},"b":{"a":2}}"#),
        Ok(json!({"a":{"a":1},"b":{"a":2}}))
    );
}

#[derive(Debug, Deserialize, PartialEq)]
struct Outer {
    name: String,
    #[serde(default)]
    inner: Option<Inner>,
    #[serde(default)]
    list: Vec<Inner>,
    #[serde(default)]
    by_name: BTreeMap<String, Inner>,
    #[serde(default)]
    pair: (u8, f64),
    #[serde(default)]
    choice: Option<Choice>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Inner {
    key: i64,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Choice {
    Nothing,
    One(Inner),
    Two(u8, u8),
    Named { key: i64 },
}

fn outer(value: Value) -> Result<Outer, JsonError> {
    parse_as(value.to_string().as_bytes(), &Limits::default())
}

#[test]
fn an_object_is_read_as_the_struct_it_is_at_any_depth() {
    let read = outer(json!({
        "name": "a", "inner": {"key": -1, "unknown": [1]}, "list": [{"key": 2}], "by_name": {"b": {"key": 3}},
        "pair": [1, 0.5], "choice": {"One": {"key": 4}},
    }));
    let inner = |key: i64| Inner { key };
    assert_eq!(
        read,
        Ok(Outer {
            name: "a".to_owned(),
            inner: Some(inner(-1)),
            list: vec![inner(2)],
            by_name: BTreeMap::from([("b".to_owned(), inner(3))]),
            pair: (1, 0.5),
            choice: Some(Choice::One(inner(4))),
        })
    );
    let choice = |choice: Value| {
        outer(json!({"name": "a", "choice": choice}))
            .unwrap()
            .choice
    };
    assert_eq!(choice(json!(null)), None);
    assert_eq!(choice(json!("Nothing")), Some(Choice::Nothing));
    assert_eq!(choice(json!({"Two": [1, 2]})), Some(Choice::Two(1, 2)));
    let named = Some(Choice::Named { key: 5 });
    assert_eq!(choice(json!({"Named": {"key": 5}})), named);
}

#[test]
fn an_array_is_no_struct_at_any_depth() {
    for wrong in [
        json!(["a"]),
        json!([]),
        json!("a"),
        json!(null),
        json!({"name": "a", "inner": [1]}),
        json!({"name": "a", "inner": []}),
        json!({"name": "a", "list": [[1]]}),
        json!({"name": "a", "by_name": {"b": [1]}}),
        json!({"name": "a", "by_name": []}),
        json!({"name": "a", "pair": [1]}),
        json!({"name": "a", "pair": [1, 2, 3]}),
        json!({"name": "a", "choice": {"One": [1]}}),
        json!({"name": "a", "choice": {"Named": [1]}}),
        json!({"name": "a", "choice": {"Nothing": null, "One": {"key": 1}}}),
        json!({"name": "a", "choice": ["Nothing"]}),
        json!({"name": 1}),
        json!({}),
    ] {
        let refused = outer(wrong.clone());
        assert!(matches!(refused, Err(JsonError::Shape(_))), "{wrong}");
    }
}

#[test]
fn limits_hold_exactly() {
    let limits = Limits {
        max_bytes: 40,
        max_depth: 2,
        max_members: 3,
    };
    let read = |text: &str| parse(text.as_bytes(), &limits);
    assert!(read("[[1,2]]").is_ok());
    assert_eq!(read("[[[]]]"), Err(JsonError::TooDeep));
    assert_eq!(read("[1,2,3,4]"), Err(JsonError::TooMany));
    assert_eq!(read(r#"{"a":1,"b":[2,3]}"#), Err(JsonError::TooMany));
    assert_eq!(read(&" ".repeat(41)), Err(JsonError::TooLong));
    let deep = "[".repeat(100_000);
    assert_eq!(
        parse(deep.as_bytes(), &Limits::default()),
        Err(JsonError::TooDeep)
    );
}

#[test]
fn anything_after_the_value_and_anything_that_is_not_utf_8_is_refused() {
    for text in [
        "{} {}",
        "1 2",
        "{},",
        "",
        "nul",
        "[1,]",
        "{\"a\":1,}",
        "\"\\ud800\"",
        "1e999",
        "NaN",
        "\u{feff}1",
    ] {
        assert!(
            matches!(read(text), Err(JsonError::Syntax { .. })),
            "{text:?}"
        );
    }
    assert!(matches!(
        parse(b"\"\xff\"", &Limits::default()),
        Err(JsonError::Syntax { .. })
    ));
    assert_eq!(read(" {} \n"), Ok(json!({})));
}

#[test]
fn a_value_of_another_shape_is_refused_without_saying_what_it_held() {
    let error = parse_as::<Vec<u8>>(br#"["secret"]"#, &Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`[0]` must be a whole number from 0 to 255"
    );
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only what is refused is looked at")]
struct Strict {
    method: String,
    #[serde(default)]
    uses: Option<u32>,
    #[serde(default)]
    flag: bool,
    #[serde(default)]
    url: Option<NoSecret>,
    #[serde(default)]
    list: Vec<Nested>,
    #[serde(default)]
    by_name: BTreeMap<String, Vec<Nested>>,
    #[serde(default)]
    choice: Option<Choice>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only what is refused is looked at")]
struct Nested {
    key: i64,
}

/// A type whose own error message contains the value.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct NoSecret;

impl TryFrom<String> for NoSecret {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Err(format!("{text} is refused"))
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_without_its_value() {
    let known = "known are `method`, `uses`, `flag`, `url`, `list`, `by_name`, `choice`";
    let number = "must be a whole number from 0 to 4294967295";
    for (value, said) in [
        (json!({}), "the member `method` is missing".to_owned()),
        (json!({"method": 1}), "`method` must be a string".to_owned()),
        (json!(["key"]), "it must be an object".to_owned()),
        (
            json!({"method": "key", "nmae": "x"}),
            format!("the member `nmae` is unknown; {known}"),
        ),
        (
            json!({"method": "key", "n\u{202e}x": 1}),
            format!("a member is unknown; {known}"),
        ),
        (
            json!({"method": "key", "x".repeat(41): 1}),
            format!("a member is unknown; {known}"),
        ),
        (
            json!({"method": "key", "uses": -1}),
            format!("`uses` {number}"),
        ),
        (
            json!({"method": "key", "uses": "7"}),
            format!("`uses` {number}"),
        ),
        (
            json!({"method": "key", "flag": "secret"}),
            "`flag` must be true or false".to_owned(),
        ),
        (
            json!({"method": "key", "url": "secret"}),
            "`url` has a value it cannot have".to_owned(),
        ),
        (
            json!({"method": "key", "list": [{"key": 1}, {"key": 0.5}]}),
            "`list[1].key` must be a whole number".to_owned(),
        ),
        (
            json!({"method": "key", "list": [{}]}),
            "in `list[0]`, the member `key` is missing".to_owned(),
        ),
        (
            json!({"method": "key", "by_name": {"a": [{"key": 1, "lock": 1}]}}),
            "in `by_name.a[0]`, the member `lock` is unknown; known are `key`".to_owned(),
        ),
        (
            json!({"method": "key", "by_name": {"se`cret": [1]}}),
            "`by_name.…[0]` must be an object".to_owned(),
        ),
        (
            json!({"method": "key", "choice": "secret"}),
            "`choice` must be one of `Nothing`, `One`, `Two`, `Named`".to_owned(),
        ),
        (
            json!({"method": "key", "choice": {"Two": [1]}}),
            "`choice.Two` has too few or too many elements".to_owned(),
        ),
    ] {
        let misfit = value_as::<Strict>(value.clone()).unwrap_err();
        assert_eq!(misfit.to_string(), said, "{value}");
    }
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:0-9eE.\\\\u-]{0,60}") {
        let _ = parse(&bytes, &Limits::default());
        let _ = read(&text);
    }
}
