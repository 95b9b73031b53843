//! `traceparent`, its stamp, and sampling.

use proptest::prelude::*;

use crate::context::{SpanId, TraceId};
use crate::{Sampling, Stamp, TraceContext};

const EXAMPLE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn read(text: &str) -> Option<TraceContext> {
    text.parse().ok()
}

#[test]
fn the_example_of_the_specification_is_read_and_written() {
    // W3C Trace Context §3.2.3.
    let context = read(EXAMPLE).unwrap();
    assert!(context.is_sampled);
    assert_eq!(context.to_string(), EXAMPLE);
    let unsampled = EXAMPLE.replace("-01", "-00");
    assert!(!read(&unsampled).unwrap().is_sampled);
    assert_eq!(read(&unsampled).unwrap().to_string(), unsampled);
}

#[test]
fn flags_of_other_meanings_are_read_and_not_sent_on() {
    let random = EXAMPLE.replace("-01", "-03");
    assert_eq!(read(&random).unwrap().to_string(), EXAMPLE);
    let random = EXAMPLE.replace("-01", "-02");
    assert!(!read(&random).unwrap().is_sampled);
}

#[test]
fn what_is_no_traceparent_is_refused() {
    let zeros = "0".repeat(32);
    for wrong in [
        String::new(),
        "00".to_owned(),
        EXAMPLE.to_uppercase(),
        EXAMPLE.replace("0af7651916cd43dd8448eb211c80319c", &zeros),
        EXAMPLE.replace("b7ad6b7169203331", "0000000000000000"),
        EXAMPLE.replace("00-", "ff-"),
        EXAMPLE.replace("00-", "0-"),
        EXAMPLE.replace("-01", "-1"),
        EXAMPLE.replace("-01", "-0g"),
        EXAMPLE.replace("0af7", "+af7"),
        format!("{EXAMPLE}-"),
        format!("{EXAMPLE}-00"),
        format!(" {EXAMPLE}"),
        EXAMPLE.replace('-', "_"),
        format!("01-{}", "é".repeat(26)),
        format!("{}-{}", EXAMPLE.replace("00-", "cc-"), "a".repeat(1_000)),
    ] {
        assert_eq!(read(&wrong), None, "{wrong}");
    }
}

#[test]
fn a_later_version_is_read_as_far_as_it_is_known() {
    // W3C Trace Context §4.3.
    let later = EXAMPLE.replace("00-", "cc-");
    for text in [later.clone(), format!("{later}-what-ever")] {
        assert_eq!(read(&text).unwrap().to_string(), EXAMPLE, "{text}");
    }
    assert_eq!(read(&format!("{later}x")), None);
}

#[test]
fn a_context_is_stored_as_its_text() {
    let context = read(EXAMPLE).unwrap();
    let stored = serde_json::to_string(&context).unwrap();
    assert_eq!(stored, format!("\"{EXAMPLE}\""));
    assert_eq!(
        serde_json::from_str::<TraceContext>(&stored).unwrap(),
        context
    );
    assert!(serde_json::from_str::<TraceContext>("\"00\"").is_err());
}

proptest! {
    #[test]
    fn no_text_is_read_in_two_forms_and_none_causes_a_panic(text in ".{0,80}|[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.{0,9})?") {
        if let Some(context) = read(&text) {
            let written = context.to_string();
            prop_assert_eq!(read(&written), Some(context));
            prop_assert_eq!(&text[3..52], &written[3..52]);
        }
    }

    #[test]
    fn every_context_reads_back(trace in 1_u128.., span in 1_u64.., is_sampled: bool) {
        let context = TraceContext {
            trace: TraceId::of(trace).unwrap(),
            span: SpanId::of(span).unwrap(),
            is_sampled,
        };
        prop_assert_eq!(read(&context.to_string()), Some(context));
    }

    #[test]
    fn a_ratio_records_what_a_smaller_one_records(trace in 1_u128.., a in 0.0..=1.0_f64, b in 0.0..=1.0_f64) {
        let trace = TraceId::of(trace).unwrap();
        let has = |ratio| Sampling::ratio(ratio).unwrap().has(trace);
        prop_assert!(!has(a.min(b)) || has(a.max(b)));
        prop_assert!(has(1.0) && !has(0.0) && Sampling::ALL.has(trace));
    }
}

#[test]
fn a_ratio_records_about_its_part_of_the_traces() {
    let ids = crate::ids::Ids::new();
    let tenth = Sampling::ratio(0.1).unwrap();
    let recorded = (0..10_000).filter(|_| tenth.has(ids.trace())).count();
    assert!((700..1_300).contains(&recorded), "{recorded}");
    for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(Sampling::ratio(wrong).is_err(), "{wrong}");
    }
}

/// A stamp that tests can make: the first bytes of the text, mixed with a key.
fn stamp(key: u8) -> Stamp {
    Stamp::new(move |text| {
        let mut code = [key; 16];
        for (at, byte) in text.iter().enumerate() {
            code[at % 16] = code[at % 16].wrapping_mul(31).wrapping_add(*byte);
        }
        code
    })
}

#[test]
fn a_stamp_is_believed_by_who_has_its_key_for_its_context_alone() {
    let (ours, theirs) = (stamp(1), stamp(2));
    let context = read(EXAMPLE).unwrap();
    let other = read(&EXAMPLE.replace("3331", "3332")).unwrap();
    let state = ours.state(&context);
    assert!(
        state.starts_with("selfsame=") && state.len() == 41,
        "{state}"
    );
    assert!(ours.is_on(&context, &state));
    assert!(ours.is_on(&context, &format!("other=1 , {state},more=2")));
    assert!(!ours.is_on(&other, &state));
    assert!(!theirs.is_on(&context, &state));
    let unsampled = TraceContext {
        is_sampled: false,
        ..context
    };
    assert!(!ours.is_on(&unsampled, &state));
    for wrong in [
        "",
        "selfsame=",
        &state[..40],
        &state.replace("selfsame", "selfsam"),
    ] {
        assert!(!ours.is_on(&context, wrong), "{wrong}");
    }
    assert!(!ours.is_on(&context, &format!("{},{state}", "a".repeat(5_000))));
}
