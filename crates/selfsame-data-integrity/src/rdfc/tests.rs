//! Datasets of our own and those of the specification's test suite, and datasets that are too hard.

use std::collections::HashMap;

use serde_json::Value;

use super::*;
use crate::rdf::{RdfLiteral, RdfLiteralKind, RdfQuad, RdfTerm};

/// Datasets and their canonical forms, which the npm package `rdf-canonize` made.
const OWN: &str = include_str!("../../../../vectors/data-integrity/datasets.json");
/// Names the folder `tests/rdfc10` of the specification's repository.
const SUITE: &str = "SELFSAME_RDF_CANON_TESTS";
/// The case of the suite whose digest is SHA-384.
const LONG_DIGEST: &str = "test075";

/// Reads N-Quads, as far as the test suite uses them.
pub(crate) fn parse(text: &str) -> Dataset {
    let mut numbers = HashMap::new();
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let quads: Vec<RdfQuad> = lines
        .map(|line| {
            let mut rest = line;
            let mut terms = Vec::new();
            while rest != "." {
                let (term, after) = term(rest, &mut numbers);
                terms.push(term);
                rest = after.trim_start();
            }
            let mut terms = terms.into_iter();
            let subject = terms.next().unwrap();
            let Some(RdfTerm::Iri(predicate)) = terms.next() else {
                panic!("{line}")
            };
            RdfQuad {
                subject,
                predicate,
                object: terms.next().unwrap(),
                graph: terms.next(),
            }
        })
        .collect();
    Dataset::new(quads, u32::try_from(numbers.len()).unwrap())
}

fn term<'t>(text: &'t str, numbers: &mut HashMap<&'t str, u32>) -> (RdfTerm, &'t str) {
    if let Some(rest) = text.strip_prefix('<') {
        let (iri, after) = rest.split_once('>').unwrap();
        return (RdfTerm::Iri(unescaped(iri)), after);
    }
    if let Some(rest) = text.strip_prefix("_:") {
        let end = rest.find([' ', '\t']).unwrap();
        let next = u32::try_from(numbers.len()).unwrap();
        let number = *numbers.entry(&rest[..end]).or_insert(next);
        return (RdfTerm::Blank(number), &rest[end..]);
    }
    let rest = text.strip_prefix('"').unwrap();
    let mut end = 0;
    while !rest[end..].starts_with('"') {
        let step = if rest[end..].starts_with('\\') { 2 } else { 1 };
        end += rest[end..]
            .chars()
            .take(step)
            .map(char::len_utf8)
            .sum::<usize>();
    }
    let (text, after) = (unescaped(&rest[..end]), &rest[end + 1..]);
    let (kind, after) = if let Some(after) = after.strip_prefix("^^<") {
        let (iri, after) = after.split_once('>').unwrap();
        let is_plain = iri.ends_with("XMLSchema#string");
        let iri = unescaped(iri);
        let typed = RdfLiteralKind::Typed(iri);
        (
            if is_plain {
                RdfLiteralKind::Plain
            } else {
                typed
            },
            after,
        )
    } else if let Some(after) = after.strip_prefix('@') {
        let (tag, after) = after.split_once(' ').unwrap();
        (RdfLiteralKind::Tagged(tag.to_owned()), after)
    } else {
        (RdfLiteralKind::Plain, after)
    };
    (RdfTerm::Literal(RdfLiteral { text, kind }), after)
}

fn unescaped(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        if one != '\\' {
            made.push(one);
            continue;
        }
        let length = match rest.next().unwrap() {
            'b' => Err('\u{8}'),
            't' => Err('\t'),
            'n' => Err('\n'),
            'f' => Err('\u{c}'),
            'r' => Err('\r'),
            'u' => Ok(4),
            'U' => Ok(8),
            other => Err(other),
        };
        made.push(length.map_or_else(
            |same| same,
            |length| {
                let digits: String = rest.by_ref().take(length).collect();
                char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
            },
        ));
    }
    made
}

#[test]
fn each_dataset_has_its_canonical_form() {
    let cases: Value = serde_json::from_str(OWN).unwrap();
    for case in cases.as_array().unwrap() {
        let made = canonical(&parse(case["input"].as_str().unwrap()), SuiteDigest::Sha256);
        assert_eq!(
            made.as_deref(),
            Ok(case["canonical"].as_str().unwrap()),
            "{case}"
        );
    }
}

#[test]
#[ignore = "needs a copy of the specification's tests: docs/data-integrity.md says how"]
#[allow(
    clippy::disallowed_methods,
    reason = "the folder is elsewhere on each machine"
)]
fn the_specification_s_own_tests_pass() {
    let folder = std::env::var_os(SUITE).expect("where the tests are");
    let mut passed = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(test) = name.strip_suffix("-in.nq") else {
            continue;
        };
        let digest = match test {
            LONG_DIGEST => SuiteDigest::Sha384,
            _ => SuiteDigest::Sha256,
        };
        let made = canonical(&parse(&std::fs::read_to_string(&path).unwrap()), digest);
        match std::fs::read_to_string(path.with_file_name(format!("{test}-rdfc10.nq"))) {
            Ok(wanted) => assert_eq!(made.as_deref(), Ok(&*wanted), "{test}"),
            // A dataset without a canonical form must be refused.
            Err(_) => assert_eq!(
                made.unwrap_err().code(),
                "integrity-transformation",
                "{test}"
            ),
        }
        passed += 1;
    }
    assert!(passed > 60, "{passed}");
}

const P: &str = "https://example.org/p";

fn edge(from: u32, to: u32) -> RdfQuad {
    RdfQuad {
        subject: RdfTerm::Blank(from),
        predicate: P.to_owned(),
        object: RdfTerm::Blank(to),
        graph: None,
    }
}

/// Every blank node refers to every other.
fn clique(nodes: u32) -> Dataset {
    let all = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    let quads = all.filter(|(from, to)| from != to);
    Dataset::new(quads.map(|(from, to)| edge(from, to)).collect(), nodes)
}

/// A grid whose sides are joined: all nodes look alike, and no short way tells them apart.
fn torus(side: u32) -> Dataset {
    let all = (0..side).flat_map(|row| (0..side).map(move |column| (row, column)));
    let place = |row: u32, column: u32| (row % side) * side + column % side;
    let quads = all.flat_map(|(row, column)| {
        let from = place(row, column);
        [
            edge(from, place(row + 1, column)),
            edge(from, place(row, column + 1)),
        ]
    });
    Dataset::new(quads.collect(), side * side)
}

/// One node refers to many that look alike.
fn star(points: u32) -> Dataset {
    Dataset::new((1..=points).map(|to| edge(0, to)).collect(), points + 1)
}

fn chain(nodes: u32) -> Dataset {
    let both = (1..nodes).flat_map(|to| [edge(to - 1, to), edge(to, to - 1)]);
    Dataset::new(both.collect(), nodes)
}

#[test]
fn datasets_that_are_too_hard_are_refused_soon() {
    // The bound on the work is below 50 ms, which the benchmark measures; without it this test would not end.
    for (name, hard) in [
        ("a clique of 10", clique(10)),
        ("a clique of 60", clique(60)),
        ("a torus of 6", torus(6)),
        ("a torus of 40", torus(40)),
        ("a star of 4000", star(4000)),
        (
            "a circle of 4000",
            Dataset::new(
                (0..4000).map(|at| edge(at, (at + 1) % 4000)).collect(),
                4000,
            ),
        ),
    ] {
        let refused = canonical(&hard, SuiteDigest::Sha256).unwrap_err();
        assert_eq!(refused.code(), "integrity-transformation", "{name}");
    }
    let many = Dataset::new((0..5000).map(|at| edge(at, at)).collect(), 5000);
    assert_eq!(
        canonical(&many, SuiteDigest::Sha256),
        Err(IntegrityError::TooMany("blank nodes"))
    );
}

#[test]
fn datasets_as_credentials_have_them_are_not_too_hard() {
    for (name, easy) in [
        ("a clique of 4", clique(4)),
        ("a star of 12", star(12)),
        ("a chain of 12", chain(12)),
    ] {
        assert!(canonical(&easy, SuiteDigest::Sha256).is_ok(), "{name}");
    }
}

#[test]
fn several_datasets_can_have_one_bound_together() {
    let easy = star(12);
    let mut budget = RdfcBudget::new();
    let mut is_taken = || canonical_within(&easy, SuiteDigest::Sha256, &mut budget).is_ok();
    assert!(is_taken());
    assert!((0..100_000).any(|_| !is_taken()));
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn datasets() -> impl Strategy<Value = Vec<(u32, u32, u8)>> {
        prop::collection::vec((0..6_u32, 0..6_u32, 0..3_u8), 1..14)
    }

    fn dataset(edges: &[(u32, u32, u8)], renamed: impl Fn(u32) -> u32) -> Dataset {
        let quads = edges.iter().map(|(from, to, kind)| {
            let object = match kind {
                0 => RdfTerm::Blank(renamed(*to)),
                1 => RdfTerm::Iri(format!("https://example.org/{to}")),
                _ => RdfTerm::Literal(RdfLiteral {
                    text: to.to_string(),
                    kind: RdfLiteralKind::Plain,
                }),
            };
            RdfQuad {
                object,
                ..edge(renamed(*from), 0)
            }
        });
        Dataset::new(quads.collect(), 6)
    }

    proptest! {
        #[test]
        fn the_canonical_form_does_not_depend_on_names_and_order(
            edges in datasets(),
            names in Just((0..6_u32).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let one = canonical(&dataset(&edges, |blank| blank), SuiteDigest::Sha256);
            let mut turned = edges.clone();
            turned.reverse();
            let other = canonical(&dataset(&turned, |blank| names[blank as usize]), SuiteDigest::Sha256);
            prop_assert_eq!(one, other);
        }
    }
}
