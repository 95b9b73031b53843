//! The scenarios: in one temporary instance, and across four processes with their own data.

use serde_json::Value;

use crate::instance::{Instance, free_port};
use crate::rig::{get, run, selfsame};

const SCENARIOS: [&str; 3] = ["immunization", "prescription", "blood"];
/// The one whose credential is a mobile document.
const LICENCE: &str = "licence";
/// Those that have a sample type each and no story of their own.
const RECORDS: [&str; 4] = [
    "allergies",
    "clinical-notes",
    "laboratory-results",
    "procedures",
];

/// Checks that the demonstration printed one object with exactly the documented members, and ended as expected.
#[track_caller]
fn assert_story(scenario: &str, (code, printed, complaints): (i32, String, String)) {
    assert_eq!(code, 0, "{printed}{complaints}");
    assert_eq!(printed.trim().lines().count(), 1, "one object: {printed}");
    let story: Value = serde_json::from_str(&printed).unwrap();
    let mut promised = vec!["after_revocation", "scenario", "steps", "verdict"];
    if scenario == "prescription" {
        promised.insert(1, "after_spending");
        assert_eq!(story["after_spending"], "spent");
        let names: Vec<&str> = story["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["name"].as_str().unwrap())
            .collect();
        for name in ["verify_and_spend", "refuse_spent", "revoke_by_delegation"] {
            assert!(names.contains(&name), "{names:?}");
        }
    }
    assert_eq!(members(&story), promised);
    assert_eq!(story["scenario"], scenario);
    assert_eq!(story["verdict"], "valid");
    assert_eq!(story["after_revocation"], "revoked");
    let steps = story["steps"].as_array().unwrap();
    assert!(steps.len() >= 5, "{steps:?}");
    for step in steps {
        assert_eq!(members(step), ["ms", "name"]);
        assert!(step["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{step}");
    }
}

fn members(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn the_studys_scenarios_are_walked_over_didcomm_by_the_calls_of_the_study() {
    let steps = |arguments: &[&str]| -> (Value, Vec<String>) {
        let (code, printed, complaints) = run(selfsame().args(arguments));
        assert_eq!(code, 0, "{printed}{complaints}");
        let story: Value = serde_json::from_str(&printed).unwrap();
        let steps = story["steps"].as_array().unwrap().iter();
        let names = steps.map(|step| step["name"].as_str().unwrap().to_owned());
        let names = names.collect();
        (story, names)
    };
    let (story, names) = steps(&["demo", "immunization", "--aries", "--json"]);
    assert_eq!(names.len(), 14, "{names:?}");
    assert_eq!(names[13], "14_verifier_validates");
    assert_eq!(story["verified"], true);
    assert!(story.get("verified_after_revocation").is_none());
    let (story, names) = steps(&["demo", "prescription", "--aries", "--json"]);
    assert_eq!(names[14], "issuer_revokes");
    // The holder makes no proof with a credential that was revoked.
    let last = names.last().unwrap();
    assert_eq!(last, "again_12_holder_queries_credentials", "{names:?}");
    assert_eq!(story["verified"], true);
    assert_eq!(story["verified_after_revocation"], false);
}

#[test]
fn a_hospital_learns_whether_a_person_may_give_blood_and_nothing_else() {
    let mut demo = selfsame();
    let (code, printed, complaints) = run(demo.args(["demo", "blood", "--aries", "--json"]));
    assert_eq!(code, 0, "{printed}{complaints}");
    let story: Value = serde_json::from_str(&printed).unwrap();
    let answers = story["answers"].as_array().unwrap();
    let said = |name: &str| {
        let answer = answers.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(answer["revealed"], 0, "{answer}");
        answer["may_give"].clone()
    };
    assert_eq!((said("Anna"), said("Berta")), (true.into(), false.into()));
    let mut demo = selfsame();
    let (_, printed, _) = run(demo.args(["demo", "blood", "--aries"]));
    assert!(
        printed.starts_with("May this person give blood to A+?"),
        "{printed}"
    );
    assert!(
        printed.contains("Anna     yes") && printed.contains("Berta    no"),
        "{printed}"
    );
}

#[test]
fn each_scenario_ends_with_refusal_in_one_process() {
    let all = SCENARIOS.into_iter().chain(RECORDS);
    for scenario in all.chain([LICENCE]) {
        assert_story(scenario, run(selfsame().args(["demo", scenario, "--json"])));
    }
}

#[test]
fn each_healthcare_type_is_issued_proven_and_revoked_over_didcomm() {
    for scenario in RECORDS {
        let (code, printed, complaints) =
            run(selfsame().args(["demo", scenario, "--aries", "--json"]));
        assert_eq!(code, 0, "{scenario}: {printed}{complaints}");
        let story: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(story["verified"], true, "{story}");
        assert_eq!(story["verified_after_revocation"], false, "{story}");
        let steps = story["steps"].as_array().unwrap();
        assert_eq!(steps[13]["name"], "14_verifier_validates", "{story}");
        assert_eq!(steps[14]["name"], "issuer_revokes", "{story}");
    }
}

#[test]
fn a_scenario_for_people_shows_each_rule_with_its_paragraph() {
    let (code, printed, complaints) = run(selfsame().args(["demo", "immunization"]));
    assert_eq!(code, 0, "{printed}{complaints}");
    assert!(
        printed.contains("VALID") && printed.contains("RFC 9901 §"),
        "{printed}"
    );
    assert!(
        printed
            .trim()
            .ends_with("presented: valid · after revocation: revoked"),
        "{printed}"
    );
}

/// Issuer, wallet, verifier and registry, each in a process of its own.
#[test]
fn each_scenario_passes_across_four_processes() {
    let folder = tempfile::tempdir().unwrap();
    let ports = [(); 4].map(|()| free_port());
    let [registry, issuer, wallet, verifier] =
        ports.map(|port| format!("http://localhost:{port}/"));
    let data = |name: &str| folder.path().join(name);
    let start = |name: &str, port: u16, arguments: &[&str]| {
        let mut instance =
            Instance::start(&data(name), port, &[&["--role", name], arguments].concat());
        instance.ready();
        instance
    };
    let at_registry = start("registry", ports[0], &[]);
    let token = at_registry.token_file();
    let anchored = [
        "--registry",
        registry.as_str(),
        "--registry-token-file",
        token.to_str().unwrap(),
    ];
    let knowing = |one: &'_ str, other: &'_ str, trusted: &[&str]| -> Vec<String> {
        let sisters = ["--trust-origin", one, "--trust-origin", other];
        [&anchored[..], &sisters, trusted]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    let at_issuer = start(
        "issuer",
        ports[1],
        &words(&knowing(&wallet, &verifier, &[])),
    );
    let status = get(&at_issuer.operator(), "/api/status");
    let dids = status["issuer_dids"].as_array().unwrap();
    let dids: Vec<&str> = dids.iter().map(|did| did.as_str().unwrap()).collect();
    let _at_wallet = start(
        "wallet",
        ports[2],
        &words(&knowing(&issuer, &verifier, &[])),
    );
    let trusted: Vec<&str> = (dids.iter())
        .flat_map(|did| ["--trust-issuer", did])
        .collect();
    let at_verifier = start(
        "verifier",
        ports[3],
        &words(&knowing(&issuer, &wallet, &trusted)),
    );

    for scenario in SCENARIOS {
        let mut demo = selfsame();
        demo.args([
            "demo",
            scenario,
            "--json",
            "--issuer",
            &issuer,
            "--wallet",
            &wallet,
            "--verifier",
            &verifier,
        ]);
        demo.arg("--issuer-token-file").arg(at_issuer.token_file());
        demo.arg("--verifier-token-file")
            .arg(at_verifier.token_file());
        assert_story(scenario, run(&mut demo));
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}
