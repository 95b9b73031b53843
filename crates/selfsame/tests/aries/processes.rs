//! A doctor, a patient and a pharmacy, each in a process with data of its own, and a registry in a fourth: the scenarios
//! of the healthcare study by their admin APIs alone.

use serde_json::{Value, json};

use crate::connecting::by_connections;
use crate::issuing::{Offer, PRESCRIPTION, Published, VACCINATION, await_done, issue, revoke};
use crate::proving::{Asked, proves};
use crate::stage::{OwnAgent, Stage, Wanted};

/// What an agent does by itself in the study: holders request what they are offered.
const PATIENT: &str = "auto_respond_credential_offer = true\npreserve_exchange_records = true\n";
const ISSUER: &str = "preserve_exchange_records = true\n";

fn cast(stage: &Stage) -> (crate::instance::Instance, [OwnAgent; 3]) {
    let registry = stage.registry();
    let wanted = [("doctor", ISSUER), ("patient", PATIENT), ("pharmacy", "")];
    let wanted = wanted.map(|(organisation, settings)| Wanted {
        organisation,
        settings,
    });
    let agents = stage.agents(&registry, wanted);
    (registry, agents)
}

/// What a doctor publishes before the study's plans begin, in the words of Indy's ledger.
fn published(doctor: &OwnAgent, attributes: &[(&str, &str)], places: Option<u32>) -> Published {
    let names: Vec<&str> = attributes.iter().map(|(name, _)| *name).collect();
    let schema = doctor.admin.post(
        "/schemas",
        &json!({"schema_name": names[0], "schema_version": "1.0", "attributes": names}),
    );
    let schema = schema["schema_id"].as_str().unwrap().to_owned();
    let made = doctor.admin.post(
        "/credential-definitions",
        &json!({
            "schema_id": schema,
            "tag": names[0],
            "support_revocation": places.is_some(),
            "revocation_registry_size": places,
        }),
    );
    let definition = made["credential_definition_id"].as_str().unwrap();
    Published {
        schema,
        definition: definition.to_owned(),
    }
}

/// Table III of the study: 14 calls, each of which must succeed.
#[test]
fn the_fourteen_steps_pass_between_three_processes() {
    let stage = Stage::new();
    let (_registry, [doctor, patient, pharmacy]) = cast(&stage);
    let published = published(&doctor, VACCINATION, None);

    let with_doctor = by_connections(&doctor.admin, &patient.admin);
    let offer = Offer {
        published: &published,
        said: VACCINATION,
        format: "indy",
        is_requested: true,
        auto_remove: true,
    };
    issue(&doctor.admin, &patient.admin, &with_doctor, &offer);
    let held = patient.admin.get("/credentials");
    assert_eq!(held["results"][0]["attrs"]["vaccine"], VACCINATION[0].1);

    let with_pharmacy = by_connections(&pharmacy.admin, &patient.admin);
    let asked = Asked {
        published: &published,
        attributes: &["vaccine", "vaccination_site_country", "manufacturer"],
        at_least: ("date", 20_210_901),
        unrevoked: false,
        format: "indy",
    };
    let is_proven = proves(&pharmacy.admin, &patient.admin, &with_pharmacy, &asked);
    assert!(is_proven);
}

/// The prescription of the study, which the doctor then revokes.
#[test]
fn a_revocation_by_one_process_is_seen_by_the_others() {
    let stage = Stage::new();
    let (_registry, [doctor, patient, pharmacy]) = cast(&stage);
    let published = published(&doctor, PRESCRIPTION, Some(4));

    let with_doctor = by_connections(&doctor.admin, &patient.admin);
    let offer = Offer {
        published: &published,
        said: PRESCRIPTION,
        format: "indy",
        is_requested: true,
        auto_remove: false,
    };
    let issued = issue(&doctor.admin, &patient.admin, &with_doctor, &offer);
    await_done(&doctor.admin, &issued);
    let with_pharmacy = by_connections(&pharmacy.admin, &patient.admin);
    let asked = Asked {
        published: &published,
        attributes: &["medication_name", "medication_dose", "medication_quantity"],
        at_least: ("expiration", 20_220_301),
        unrevoked: true,
        format: "indy",
    };
    let proven = || proves(&pharmacy.admin, &patient.admin, &with_pharmacy, &asked);
    assert!(proven());
    revoke(&doctor.admin, "/revocation/revoke", &issued, &json!({}));
    assert_revoked(&doctor, &issued.issuers);
    assert!(!proven());
}

#[track_caller]
fn assert_revoked(doctor: &OwnAgent, exchange: &str) {
    let path = format!("/revocation/credential-record?cred_ex_id={exchange}");
    let record: Value = doctor.admin.get(&path);
    assert_eq!(record["result"]["state"], "revoked", "{record}");
}
