//! Known answers: one seed for each step, and every message that results from it.

use serde_json::{Value, json};

use super::*;
use crate::format::Message;
use crate::testing::{chosen, request};
use crate::verdict::Outcome;

#[test]
fn the_same_seeds_give_the_known_messages() {
    let known: Value = serde_json::from_str(&crate::testing::text("known/messages.json")).unwrap();
    let world = World::legacy();
    let asked = ask(&world);
    let issuance = Issuance {
        offer: &asked.offer,
        request: &asked.request,
        values: &values(),
        place: Some(place(&world, 4)),
    };
    let credential = world.issuer.create_credential(&issuance, &ctx(3)).unwrap();
    let expected = Expected {
        metadata: &asked.metadata,
        link_secret: &asked.secret,
        definition: world.definition(),
        registry: world.published(),
        encoding: Encoding::Recommended,
    };
    let processed = process_credential(&credential, &expected).unwrap();
    let question = request(json!({
        "requested_attributes": { "a": { "name": "Name" } },
        "requested_predicates": { "p": { "name": "age", "p_type": ">=", "p_value": 18 } },
    }));
    let answer = [chosen(&world, &processed, &["+a", "p"])];
    let presentation = crate::testing::present(&question, &answer).unwrap();
    let worlds = [World::legacy()];
    let verdict =
        crate::testing::verdict(&presentation, &question, &crate::testing::known(&worlds));
    assert_eq!(verdict.verdict.outcome, Outcome::Valid);
    let answers = json!({
        "offer": asked.offer,
        "request": asked.request,
        "request_metadata": asked.metadata,
        "credential": credential,
        "credential_processed": processed,
        "presentation": presentation,
    });
    assert_eq!(answers, known["answers"], "{answers:#}");
    let again = crate::format::Presentation::from_json(
        known["answers"]["presentation"].to_string().as_bytes(),
    );
    assert_eq!(again.unwrap(), presentation);
}
