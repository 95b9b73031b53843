//! Tests the DCQL vectors: the specification's queries against credentials that match them and credentials that do not.

use std::{collections::BTreeMap, fs, path::PathBuf};

use selfsame_credential::{ClaimPath, Format};
use selfsame_crypto::encoding;
use selfsame_openid4vc::dcql::{Candidate, DcqlQuery, Match, Mismatch, check, select};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the comment and the source are for the reader")]
struct Vector {
    comment: String,
    source: String,
    query: Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    held: Vec<Held>,
    satisfiable: bool,
    reveals: BTreeMap<String, BTreeMap<String, Vec<ClaimPath>>>,
    options: Vec<Vec<Vec<String>>>,
    missing: BTreeMap<String, Value>,
    #[serde(default)]
    claim_set: BTreeMap<String, BTreeMap<String, usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    id: String,
    format: Format,
    types: Vec<String>,
    claims: Value,
    #[serde(default = "bound")]
    holder_bound: bool,
    #[serde(default)]
    authority_keys: Vec<String>,
}

fn bound() -> bool {
    true
}

impl Held {
    fn candidate(&self) -> Candidate<'_> {
        let key = |text: &String| encoding::base64url_decode(text).unwrap();
        Candidate {
            format: self.format,
            types: self.types.clone(),
            claims: &self.claims,
            withheld: None,
            holder_bound: self.holder_bound,
            authority_keys: self.authority_keys.iter().map(key).collect(),
        }
    }
}

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dcql")
}

fn read(name: &str) -> String {
    fs::read_to_string(vectors().join(name)).unwrap()
}

fn mismatch(found: &Mismatch) -> Value {
    match found {
        Mismatch::Format => json!("format"),
        Mismatch::Type => json!("type"),
        Mismatch::Authority => json!("authority"),
        Mismatch::HolderBinding => json!("holder_binding"),
        Mismatch::Claims(paths) => json!({"claims": paths}),
    }
}

fn run(file: &str, query: &DcqlQuery, case: &Case) {
    let what = format!("{file}: {}", case.name);
    let held: Vec<_> = case
        .held
        .iter()
        .map(|held| (held.id.clone(), held.candidate()))
        .collect();
    let selection = select(query, &held);
    let by = |member: fn(&Match<String>) -> Value| -> Value {
        let queries = selection.queries.iter().map(|found| {
            let matches = found
                .matches
                .iter()
                .map(|one| (one.id.clone(), member(one)));
            (found.query.clone(), Value::Object(matches.collect()))
        });
        Value::Object(queries.collect())
    };
    assert_eq!(by(|one| json!(one.reveal)), json!(case.reveals), "{what}");
    let options: Vec<_> = selection
        .sets
        .iter()
        .map(|set| set.options.clone())
        .collect();
    assert_eq!(options, case.options, "{what}");
    assert_eq!(selection.is_satisfiable(), case.satisfiable, "{what}");
    let missing: BTreeMap<_, _> = selection
        .missing()
        .map(|(query, why)| (query.to_owned(), mismatch(why)))
        .collect();
    assert_eq!(missing, case.missing, "{what}");
    for (query, sets) in &case.claim_set {
        for (id, set) in sets {
            assert_eq!(
                by(|one| json!(one.claim_set))[query][id],
                json!(set),
                "{what}"
            );
        }
    }
    // The verifier accepts the wallet's answer exactly if the query can be satisfied.
    let choice = selection.first_choice(false).unwrap_or_default();
    let answer = choice
        .iter()
        .map(|(query, one)| {
            let sent = case.held.iter().find(|held| held.id == one.id).unwrap();
            ((*query).to_owned(), vec![Some(sent.candidate())])
        })
        .collect();
    assert_eq!(check(query, &answer).is_ok(), case.satisfiable, "{what}");
}

#[test]
fn the_specifications_queries_select_what_they_should() {
    let mut cases = 0;
    for entry in fs::read_dir(vectors()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "paths.json" {
            continue;
        }
        let vector: Vector = serde_json::from_str(&read(&name)).unwrap();
        let query = DcqlQuery::parse(&vector.query).unwrap();
        assert_eq!(
            serde_json::to_value(&query).unwrap(),
            vector.query,
            "{name}"
        );
        for case in &vector.cases {
            run(&name, &query, case);
            cases += 1;
        }
    }
    assert!(cases > 20, "the vectors are there");
}

#[test]
fn the_specifications_paths_lead_where_they_should() {
    let file: Value = serde_json::from_str(&read("paths.json")).unwrap();
    let root = &file["credential"];
    for path in file["paths"].as_array().unwrap() {
        let query = json!({"credentials": [{
            "id": "c", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:example:arthur"]},
            "claims": [{"path": path["path"]}],
        }]});
        let candidate = Candidate {
            format: Format::SdJwtVc,
            types: vec!["urn:example:arthur".into()],
            claims: root,
            withheld: None,
            holder_bound: true,
            authority_keys: Vec::new(),
        };
        let selection = select(&DcqlQuery::parse(&query).unwrap(), &[((), candidate)]);
        let places = match selection.queries[0].matches.as_slice() {
            [one] => one.reveal.clone(),
            _ => Vec::new(),
        };
        assert_eq!(json!(places), path["places"], "{path}");
        let values: Vec<_> = places.iter().flat_map(|place| place.select(root)).collect();
        assert_eq!(json!(values), path["values"], "{path}");
    }
}
