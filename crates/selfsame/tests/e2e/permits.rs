//! The permits example: six organisations whose credentials need each other.

use serde_json::Value;

use crate::rig::{run, selfsame};

#[test]
fn a_business_gets_six_permits_each_by_the_earlier_ones() {
    let (code, printed, complaints) =
        run(selfsame().args(["demo", "permits", "--seed", "7", "--json"]));
    assert_eq!(code, 0, "{printed}{complaints}");
    let story: Value = serde_json::from_str(&printed).unwrap();
    let steps = story["steps"].as_array().unwrap();
    let told: Vec<(&str, usize)> = steps
        .iter()
        .map(|step| {
            (
                step["permit"].as_str().unwrap(),
                step["proven"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("incorporation", 0),
            ("clearance-letter", 1),
            ("pst-number", 1),
            ("operating-permit", 2),
            ("liquor-license", 4),
            ("business-license", 5),
        ]
    );
    assert_eq!(story["refused"].as_array().unwrap().len(), 2, "{story}");
    let last = steps.last().unwrap();
    assert_eq!(
        (&last["typed"], last["filled"].as_u64() > Some(9)),
        (&0.into(), true),
        "{last}"
    );
}

#[test]
fn a_seed_prints_the_same_businesses_again() {
    let printed = |seed: &str| {
        let arguments = ["demo", "permits", "--businesses", "3", "--seed", seed];
        let (code, printed, complaints) = run(selfsame().args(arguments));
        assert_eq!(code, 0, "{complaints}");
        printed
    };
    assert_eq!(printed("7"), printed("7"));
    assert_ne!(printed("7"), printed("8"));
    assert_eq!(printed("7").lines().count(), 3);
}
