use proptest::prelude::*;
use serde_json::json;

use super::*;

fn text(value: &Value) -> String {
    String::from_utf8(value_bytes(value)).unwrap()
}

#[test]
fn the_example_of_the_rfc_has_its_canonical_form() {
    // RFC 8785 §3.2.2 and §3.2.3.
    let value: Value = serde_json::from_str(
        r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#,
    )
    .unwrap();
    let wanted = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(text(&value), wanted);
}

#[test]
fn names_are_sorted_by_utf16() {
    // RFC 8785 §3.2.3: the emoji's first code unit is U+D83D, which is before U+FB33.
    let value = json!({
        "\u{20ac}": 5, "\r": 1, "\u{fb33}": 7, "1": 2, "\u{1f600}": 6, "\u{80}": 3, "\u{f6}": 4
    });
    let wanted = "{\"\\r\":1,\"1\":2,\"\u{80}\":3,\"\u{f6}\":4,\"\u{20ac}\":5,\"\u{1f600}\":6,\"\u{fb33}\":7}";
    assert_eq!(text(&value), wanted);
}

#[test]
fn numbers_are_written_as_ecmascript_writes_them() {
    // RFC 8785 Appendix B.
    for (bits, wanted) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        assert_eq!(ecmascript(f64::from_bits(bits)), wanted);
    }
}

#[test]
fn an_integer_that_a_double_cannot_hold_is_found() {
    assert_eq!(text(&json!(9_007_199_254_740_992_u64)), "9007199254740992");
    let value = json!({"a": [1.5, {"b": 9_007_199_254_740_993_u64}]});
    assert_eq!(
        inexact(&value),
        Some(&Number::from(9_007_199_254_740_993_u64))
    );
    assert_eq!(text(&value), "{\"a\":[1.5,{\"b\":9007199254740992}]}");
    assert!(inexact(&json!([u64::MAX])).is_some());
    assert_eq!(inexact(&json!([1e300, -7, "9007199254740993"])), None);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no infinity", |one| one.is_finite())
            .prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Integers and doubles of one value are the same.
fn as_doubles(value: &Value) -> Value {
    match value {
        Value::Number(one) => match one.as_f64() {
            Some(0.0) => json!(0.0),
            other => json!(other),
        },
        Value::Array(several) => several.iter().map(as_doubles).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.clone(), as_doubles(value)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn the_canonical_form_is_read_as_the_same_value_and_is_its_own(value in values()) {
        let canonical = value_bytes(&value);
        let again: Value = serde_json::from_slice(&canonical).unwrap();
        prop_assert_eq!(as_doubles(&again), as_doubles(&value));
        prop_assert_eq!(value_bytes(&again), canonical);
    }
}
