//! Encoding of values and names.

use proptest::prelude::*;

use crate::format::encoding::same_number;
use crate::format::*;

#[test]
fn integers_of_32_bits_stand_for_themselves() {
    for (raw, encoded) in [
        ("28", "28"),
        ("-175", "-175"),
        ("0042", "42"),
        ("-0", "0"),
        ("+5", "5"),
        ("2147483647", "2147483647"),
        ("-2147483648", "-2147483648"),
    ] {
        assert_eq!(encode_attribute(raw), encoded, "{raw}");
    }
}

/// The values of Aries RFC 0592, "Encoding Claims", and of its gist.
#[test]
fn everything_else_is_hashed() {
    for (raw, encoded) in [
        (
            "2147483648",
            "26221484005389514539852548961319751347124425277437769688639924217837557266135",
        ),
        (
            "101 Wilson Lane",
            "68086943237164982734333428280784300550565381723532936263016368251445461241953",
        ),
        (
            "",
            "102987336249554097029535212322581322789799900648198034993379397001115665086549",
        ),
        (
            "None",
            "99769404535520360775991420569103450442789945655240760487761322098828903685777",
        ),
        (
            "0.0",
            "62838607218564353630028473473939957328943626306458686867332534889076311281879",
        ),
    ] {
        assert_eq!(encode_attribute(raw), encoded, "{raw}");
    }
    assert_eq!(encode_missing(), encode_attribute("None"));
    for hashed in [" 5", "5 ", "1_000", "1e3", "--1", "+", "-", "٣"] {
        assert!(encode_attribute(hashed).len() > 70, "{hashed}");
    }
}

#[test]
fn names_lose_spaces_and_capitals() {
    assert_eq!(normalise_attribute("Id Number"), "idnumber");
    assert_eq!(normalise_attribute(" ÄGE "), "äge");
}

#[test]
fn a_value_is_consistent_with_its_own_encoding_alone() {
    assert!(AttributeValue::of("Alice").is_consistent());
    let of = |raw: &str, encoded: &str| AttributeValue {
        raw: raw.into(),
        encoded: encoded.into(),
    };
    assert!(of("0042", "0042").is_consistent());
    assert!(!of("42", "43").is_consistent());
    assert!(!of("42", "-42").is_consistent());
    assert!(same_number("-0", "000") && !same_number("-1", "1"));
    assert_eq!(
        format!("{:?}", AttributeValue::of("Alice")),
        "AttributeValue(…)"
    );
}

proptest! {
    #[test]
    fn an_encoding_is_a_number_of_at_most_78_digits(raw in ".*") {
        let encoded = encode_attribute(&raw);
        prop_assert!(encoded.trim_start_matches('-').len() <= 78);
        prop_assert!(AttributeValue::of(raw).validate("v").is_ok());
    }

    #[test]
    fn every_32_bit_integer_stands_for_itself(n: i32) {
        prop_assert_eq!(encode_attribute(&n.to_string()), n.to_string());
    }
}
