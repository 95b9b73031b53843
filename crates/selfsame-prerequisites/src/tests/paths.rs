//! The path to a credential, and circles.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::path::{Graph, StepState, WayStep};

fn set(kinds: &[&str]) -> BTreeSet<String> {
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

/// The six permits of a restaurant.
fn permits() -> Graph {
    let mut graph = Graph::new();
    graph.insert("company", []);
    graph.insert("clearance", [set(&["company"])]);
    graph.insert("tax", [set(&["company"])]);
    graph.insert("health", [set(&["company", "clearance"])]);
    graph.insert("liquor", [set(&["company", "clearance", "tax", "health"])]);
    graph.insert(
        "license",
        [set(&["company", "clearance", "tax", "health", "liquor"])],
    );
    graph
}

fn told(steps: &[WayStep]) -> Vec<(&str, StepState)> {
    steps
        .iter()
        .map(|step| (step.kind.as_str(), step.state))
        .collect()
}

#[test]
fn each_step_comes_after_what_it_needs() {
    use StepState::{Held, Later, Next};
    let steps = permits().path("license", &set(&[]));
    assert_eq!(
        told(&steps),
        [
            ("company", Next),
            ("clearance", Later),
            ("health", Later),
            ("tax", Later),
            ("liquor", Later),
            ("license", Later),
        ]
    );
    let steps = permits().path("license", &set(&["company", "clearance", "tax"]));
    assert_eq!(
        told(&steps)[..4],
        [
            ("clearance", Held),
            ("company", Held),
            ("health", Next),
            ("tax", Held)
        ]
    );
}

#[test]
fn of_several_sets_the_one_with_the_fewest_missing_credentials_is_chosen() {
    let mut graph = permits();
    graph.insert("stall", [set(&["license"]), set(&["company", "badge"])]);
    let kinds = |held: &[&str]| -> Vec<String> {
        let steps = graph.path("stall", &set(held));
        steps.into_iter().map(|step| step.kind).collect()
    };
    assert_eq!(kinds(&[]), ["badge", "company", "stall"]);
    assert_eq!(kinds(&["license"]), ["license", "stall"]);
}

#[test]
fn a_circle_is_named_unless_another_set_leads_around_it() {
    let mut graph = permits();
    assert_eq!(graph.circle("license"), None);
    graph.insert("clearance", [set(&["company", "license"])]);
    let circle = graph.circle("license").unwrap();
    assert_eq!(circle.first().map(String::as_str), Some("license"));
    assert!(circle.contains(&"clearance".to_owned()), "{circle:?}");
    assert_eq!(graph.circle("tax"), None);
    let steps = graph.path("license", &set(&[]));
    assert!(told(&steps).contains(&("clearance", StepState::Never)));
    graph.insert("clearance", [set(&["company", "license"]), set(&["tax"])]);
    assert_eq!(graph.circle("license"), None);
}

#[test]
fn a_type_that_needs_itself_is_a_circle_of_one() {
    let mut graph = Graph::new();
    graph.insert("a", [set(&["a"])]);
    assert_eq!(
        graph.circle("a"),
        Some(vec!["a".to_owned(), "a".to_owned()])
    );
}

fn some_graph() -> impl Strategy<Value = Graph> {
    let sets = proptest::collection::vec(proptest::collection::btree_set(0_u8..8, 0..4), 0..3);
    proptest::collection::vec(sets, 6).prop_map(|types| {
        let mut graph = Graph::new();
        for (number, sets) in types.into_iter().enumerate() {
            let named = |set: BTreeSet<u8>| set.into_iter().map(|kind| kind.to_string()).collect();
            graph.insert(
                &number.to_string(),
                sets.into_iter().map(named).collect::<Vec<_>>(),
            );
        }
        graph
    })
}

proptest! {
    /// A person who takes the steps in their order has, at each, what it needs; steps without such an order are a circle.
    #[test]
    fn a_path_can_be_walked_exactly_if_there_is_no_circle(
        graph in some_graph(), held in proptest::collection::btree_set(0_u8..8, 0..3),
    ) {
        let held: BTreeSet<String> = held.into_iter().map(|kind| kind.to_string()).collect();
        let steps = graph.path("0", &held);
        prop_assert_eq!(&steps.last().unwrap().kind, "0");
        let mut has = held.clone();
        let mut is_walked = true;
        for step in &steps {
            is_walked &= step.state == StepState::Held || step.needs.iter().all(|kind| has.contains(kind));
            has.insert(step.kind.clone());
        }
        let is_lost = steps.iter().any(|step| step.state == StepState::Never);
        prop_assert_eq!(is_walked, !is_lost);
        if held.is_empty() {
            prop_assert_eq!(graph.circle("0").is_some(), is_lost);
        }
    }
}
