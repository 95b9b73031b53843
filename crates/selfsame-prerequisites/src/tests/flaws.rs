//! What is wrong with declarations, and what is not.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{declared, read};
use crate::check::{FlawKind, check};
use crate::{Day, KnownClaim, Prerequisites};

/// The day of `NOW`.
const TODAY: i64 = 20_484;

fn flaws(declared: &Prerequisites) -> Vec<(FlawKind, String)> {
    let found = check(declared, &[], Some(TODAY));
    found
        .into_iter()
        .map(|flaw| (flaw.kind, flaw.place))
        .collect()
}

/// A declaration of one need with these conditions.
fn with(conditions: Value) -> Prerequisites {
    read(json!({"needs": [{"name": "a", "vct_values": ["urn:a"], "conditions": conditions}]}))
}

#[test]
fn a_declaration_that_can_be_met_has_no_flaw() {
    assert_eq!(flaws(&declared()), []);
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a table of flaws is read from top to bottom"
)]
fn each_flaw_names_its_place() {
    let change = |pointer: &str, value: Value| {
        let mut file = serde_json::to_value(declared()).unwrap();
        *file.pointer_mut(pointer).unwrap() = value;
        flaws(&read(file))
    };
    for (pointer, value, kind, place) in [
        ("/needs", json!([]), FlawKind::Entries, "needs"),
        (
            "/proof_minutes",
            json!(0),
            FlawKind::Bounds,
            "proof_minutes",
        ),
        (
            "/proof_minutes",
            json!(1441),
            FlawKind::Bounds,
            "proof_minutes",
        ),
        (
            "/needs/0/name",
            json!("a b"),
            FlawKind::Text,
            "needs[0].name",
        ),
        (
            "/needs/0/vct_values",
            json!([]),
            FlawKind::Choice,
            "needs[0].vct_values",
        ),
        (
            "/needs/0/vct_values",
            json!([" "]),
            FlawKind::Text,
            "needs[0].vct_values",
        ),
        (
            "/needs/1/days_left",
            json!(40_000),
            FlawKind::Bounds,
            "needs[1].days_left",
        ),
        (
            "/needs/0/conditions/0/claim",
            json!([]),
            FlawKind::Text,
            "needs[0].conditions[0].claim",
        ),
        (
            "/options/1",
            json!(["company", "clearance"]),
            FlawKind::Twice,
            "options[1]",
        ),
        (
            "/options/0",
            json!(["company", "nothing"]),
            FlawKind::Unknown,
            "options[0]",
        ),
        (
            "/options",
            json!([["company", "clearance"]]),
            FlawKind::Unused,
            "needs[2]",
        ),
        (
            "/fills/0/proven/need",
            json!("nothing"),
            FlawKind::Unknown,
            "fills[0].proven.need",
        ),
        (
            "/fills/1/literal",
            json!(null),
            FlawKind::Choice,
            "fills[1]",
        ),
        (
            "/fills/2/claim",
            json!(["city"]),
            FlawKind::Twice,
            "fills[1].claim",
        ),
        (
            "/needs/1/conditions/0/same_as/need",
            json!("exemption"),
            FlawKind::Unknown,
            "needs[1].conditions[0].same_as.need",
        ),
    ] {
        let found = change(pointer, value);
        assert!(
            found.contains(&(kind, place.to_owned())),
            "{pointer}: {found:?}"
        );
    }
}

#[test]
fn an_address_to_get_a_credential_at_is_over_tls_or_on_this_machine() {
    for (address, is_one) in [
        ("https://register.example/apply", true),
        ("http://localhost:8080/apply", true),
        ("http://register.example", false),
        ("http://localhost:80@register.example/", false),
        ("javascript:alert(1)", false),
        ("https://somebody@register.example/", false),
    ] {
        let file = json!({"needs": [{"name": "a", "vct_values": ["urn:a"], "get_at": address}]});
        assert_eq!(flaws(&read(file)).is_empty(), is_one, "{address}");
    }
}

#[test]
fn conditions_that_can_never_hold_are_found() {
    for never in [
        json!([{"claim": ["n"], "at_least": 5, "at_most": 4}]),
        json!([{"claim": ["n"], "at_least": 5}, {"claim": ["n"], "equals": 4}]),
        json!([{"claim": ["n"], "equals": "five", "at_least": 1}]),
        json!([{"claim": ["s"], "equals": "a"}, {"claim": ["s"], "one_of": ["b", "c"]}]),
        json!([{"claim": ["n"], "at_least": 1, "not_after": "today"}]),
        json!([{"claim": ["d"], "not_before": "2026-03-01", "not_after": "2026-02-01"}]),
        json!([{"claim": ["d"], "not_before": "today+2", "not_after": "today+1"}]),
        json!([{"claim": ["d"], "not_before": "today", "not_after": "2026-01-30"}]),
        json!([{"claim": ["d"], "not_before": "today-10", "equals": "2026-01-20"}]),
        json!([{"claim": ["d"], "not_before": "2026-01-01", "equals": "soon"}]),
    ] {
        let found = flaws(&with(never.clone()));
        assert!(
            found.iter().all(|(kind, _)| *kind == FlawKind::Never) && !found.is_empty(),
            "{never}: {found:?}"
        );
    }
}

#[test]
fn conditions_that_hold_some_day_have_no_flaw() {
    for some_day in [
        json!([{"claim": ["n"], "at_least": 5, "at_most": 5}]),
        json!([{"claim": ["d"], "not_before": "2030-01-01", "not_after": "today+1"}]),
        json!([{"claim": ["d"], "not_before": "today-10", "equals": "2026-01-21"}]),
        json!([{"claim": ["d"], "not_after": "today", "equals": "2027-01-01"}]),
        json!([{"claim": ["n"], "equals": 1}, {"claim": ["n"], "equals": 1.0}]),
    ] {
        assert_eq!(flaws(&with(some_day.clone())), [], "{some_day}");
    }
}

#[test]
fn claims_that_must_be_the_same_are_judged_together_with_what_their_types_say() {
    let file = |value: &str| {
        read(json!({"needs": [
            {"name": "a", "vct_values": ["urn:a"], "conditions": [{"claim": ["x"], "equals": value}]},
            {"name": "b", "vct_values": ["urn:b"], "conditions": [
                {"claim": ["y"], "same_as": {"need": "a", "claim": ["x"]}}]},
        ]}))
    };
    let known = KnownClaim {
        need: "b".to_owned(),
        claim: vec!["y".to_owned()],
        values: vec!["small".to_owned(), "large".to_owned()],
        ..KnownClaim::default()
    };
    assert_eq!(
        check(&file("small"), std::slice::from_ref(&known), None),
        []
    );
    let found = check(&file("huge"), &[known], None);
    let places: Vec<&str> = found.iter().map(|flaw| flaw.place.as_str()).collect();
    assert_eq!(places, ["needs[0].conditions[0]", "needs[1].conditions[0]"]);
}

#[test]
fn days_are_dates_or_distances_from_today_and_nothing_else() {
    let day = |text: &str| Day::try_from(text.to_owned());
    assert_eq!(day("2026-01-31"), Ok(Day::Date(TODAY)));
    assert_eq!(day("today"), Ok(Day::FromToday(0)));
    assert_eq!(day("today-36525"), Ok(Day::FromToday(-36_525)));
    for wrong in [
        "",
        "Today",
        "today 1",
        "today+",
        "today++1",
        "today+36526",
        "2026-02-30",
        "tomorrow",
        "today1",
        "today+99999999999999999999",
    ] {
        assert!(day(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn a_day_is_written_as_it_was_read(days in -36_525_i64..=36_525, is_date in any::<bool>()) {
        let day = if is_date { Day::Date(days) } else { Day::FromToday(days) };
        prop_assert_eq!(Day::try_from(String::from(day)), Ok(day));
    }

    #[test]
    fn any_text_is_a_day_or_refused(text in "\\PC{0,40}") {
        if let Ok(day) = Day::try_from(text) {
            prop_assert!(day.on(TODAY) != i64::MAX);
        }
    }
}
