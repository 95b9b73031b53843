//! The tests that need the published library.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::altered::alterations;
use crate::dice::Dice;
use crate::flow::{Definition, Held, Registry, Table};
use crate::ours::Ours;
use crate::question::{Card, ask, judge};
use crate::refusals::{Good, Nonsense, nonsense};
use crate::rig::Wheel;
use crate::told::{count, say, take_path};

fn table() -> Table {
    take_path(
        selfsame_anoncreds::force_adx,
        selfsame_anoncreds::force_portable,
    );
    Table {
        parties: vec![Box::new(Ours::new()), Box::new(Wheel::start())],
        story: Vec::new(),
    }
}

#[test]
#[ignore = "needs the oracle: `cargo xtask test` runs it"]
fn both_implementations_accept_a_random_flow_whichever_takes_each_step() {
    let mut table = table();
    let folder = tempfile::tempdir().unwrap();
    let flows = count(12);
    for seed in 0..flows.div_ceil(FLOWS_EACH) {
        let mut dice = Dice::new(seed);
        let first = table.define(&mut dice, true);
        let second = table.define(&mut dice, false);
        let ending = match (first.is_legacy(), second.is_legacy()) {
            (true, true) => Some("did"),
            (false, false) => Some("id"),
            _ => None,
        };
        let mut registry = table.register(&mut dice, &first, 6, folder.path());
        for flow in 0..FLOWS_EACH {
            say("flows", seed * FLOWS_EACH + flow, flows);
            table.story = vec![format!("seed {seed}")];
            let link_secret = table.must(&mut dice, "link_secret", &json!({}));
            let place = 1 + dice.below(5);
            let one = table.issue(&mut dice, &first, Some((&registry, place)), &link_secret);
            let two = table.issue(&mut dice, &second, None, &link_secret);
            if registry.revoked().contains(&place) {
                table.change(&mut dice, &first, &mut registry, [&[place], &[]]);
            }
            let other = 1 + (place + dice.below(4)) % 5;
            if other != place && !registry.revoked().contains(&other) {
                table.change(&mut dice, &first, &mut registry, [&[], &[other]]);
            }
            let mut cards = vec![Card {
                definition: &first,
                held: &one,
                registry: Some(&registry),
                ending,
            }];
            if dice.once_in(3) {
                cards.push(Card {
                    definition: &second,
                    held: &two,
                    registry: None,
                    ending,
                });
            }
            let asked = ask(&mut table, &mut dice, &link_secret, &cards).unwrap();
            let presentation = table.must(&mut dice, "present", &asked);
            let judged = judge(&asked, presentation, &cards);
            for (who, answer) in table.each("verify", &judged) {
                if let Err(error) = answer {
                    table.fail(&format!("{who} refuses: {error}"), &judged);
                }
            }
        }
    }
}

/// The number of flows that share their definitions, which take a second each to make.
const FLOWS_EACH: u64 = 6;

#[test]
#[ignore = "needs the oracle: `cargo xtask test` runs it"]
fn after_any_set_is_revoked_all_others_prove_and_none_of_the_revoked_does() {
    let mut table = table();
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(99);
    let definition = table.define(&mut dice, true);
    let link_secret = table.must(&mut dice, "link_secret", &json!({}));
    let mut registry = table.register(&mut dice, &definition, 6, folder.path());
    let places: Vec<usize> = (1..6).collect();
    let held: Vec<_> = places
        .iter()
        .map(|at| table.issue(&mut dice, &definition, Some((&registry, *at)), &link_secret))
        .collect();
    let lists = count(3);
    for list in 0..lists {
        say("sets revoked", list, lists);
        let revoked = registry.revoked();
        let wanted: BTreeSet<usize> = places.iter().copied().filter(|_| dice.once_in(2)).collect();
        let again: Vec<usize> = revoked.difference(&wanted).copied().collect();
        let anew: Vec<usize> = wanted.difference(&revoked).copied().collect();
        table.change(&mut dice, &definition, &mut registry, [&again, &anew]);
        for held in &held {
            let at = held.index.unwrap();
            let ending = None;
            let card = Card {
                definition: &definition,
                held,
                registry: Some(&registry),
                ending,
            };
            let proved = proves(&mut table, &mut dice, &link_secret, card);
            assert_eq!(
                proved,
                !wanted.contains(&at),
                "place {at} of {wanted:?}: {:#?}",
                table.story
            );
        }
    }
}

/// Whether both parties find the credential not revoked; they must agree.
fn proves(table: &mut Table, dice: &mut Dice, link_secret: &Value, card: Card<'_>) -> bool {
    let registry = card.registry.unwrap();
    let newest = registry.lists.last().unwrap().0;
    table.story.clear();
    let Ok(state) = registry.state(table, dice, card.definition, card.held) else {
        return false;
    };
    let definition = card.definition;
    let request = json!({
        "name": "t", "version": "1.0", "nonce": "123456789", "requested_attributes": { "a": { "name": definition.attributes[0] } },
        "requested_predicates": {}, "non_revoked": { "from": newest, "to": newest } });
    let asked = json!({
        "request": request.to_string(), "link_secret": link_secret,
        "credentials": [{ "credential": card.held.credential, "timestamp": newest, "state": state, "attributes": [["a", true]] }],
        "schemas": { definition.schema_id.clone(): definition.schema }, "cred_defs": { definition.cred_def_id.clone(): definition.cred_def } });
    let Ok(presentation) = table.step(dice, "present", &asked) else {
        return false;
    };
    let judged = judge(&asked, presentation, &[card]);
    let answers = table.each("verify", &judged);
    let yes = answers.iter().filter(|(_, answer)| answer.is_ok()).count();
    assert!(
        yes == 0 || yes == answers.len(),
        "they disagree: {answers:?} after {:#?}",
        table.story
    );
    yes > 0
}

/// A step, and the message in its arguments that is altered.
struct Case {
    call: &'static str,
    arguments: Value,
    message: &'static str,
}

/// Where ours may refuse by a rule of its own: the step and the message, the start of the change, and the rule.
const OWN_RULES: &[(&str, &str, &str)] = &[
    (
        "process /credential",
        "/values",
        "a value's text is compared with what was signed",
    ),
    (
        "request /cred_def",
        "/schemaId",
        "the definition is for another schema than offered",
    ),
    (
        "request /offer",
        "/schema_id",
        "the definition is for another schema than offered",
    ),
    (
        "request /offer",
        "/key_correctness_proof/powers_of_s",
        "a proof about all bases holds where there is one",
    ),
    (
        "request /offer",
        "/key_correctness_proof/safe_primes",
        "a proof of two safe primes has the form of one where there is one",
    ),
    (
        "request /cred_def",
        "/value/primary/rctxt",
        "the proof about all bases is about this one too",
    ),
    (
        "issue /cred_def",
        "/value/primary/s",
        "an altered base is seldom a square, and only squares are signed",
    ),
    (
        "issue /cred_def",
        "/value/primary/z",
        "an altered base is seldom a square, and only squares are signed",
    ),
    (
        "issue /cred_def",
        "/value/primary/r",
        "an altered base is seldom a square, and only squares are signed",
    ),
    (
        "issue /offer",
        "/schema_id",
        "the definition is for another schema than offered",
    ),
    (
        "issue /offer",
        "/cred_def_id",
        "the request answers another offer",
    ),
    (
        "issue /revocation/list",
        "/revRegDefId",
        "the status list does not name its registry",
    ),
    (
        "process /credential",
        "/schema_id",
        "the definition is for another schema than the credential",
    ),
    (
        "process /credential",
        "/cred_def_id",
        "the registry is for another definition than the credential",
    ),
    (
        "issue /cred_def",
        "/schemaId",
        "the definition is for another schema than offered",
    ),
    (
        "issue /request",
        "/cred_def_id",
        "the request answers another offer",
    ),
    (
        "issue /revocation/list",
        "/issuerId",
        "the status list is another issuer's",
    ),
    (
        "issue /revocation/list",
        "/revocationList",
        "the status list has not the registry's size",
    ),
    (
        "process /credential",
        "/rev_reg",
        "a credential that can be revoked has all parts for it",
    ),
    (
        "process /credential",
        "/witness",
        "a credential that can be revoked has all parts for it",
    ),
    (
        "process /credential",
        "/signature/r_credential",
        "a credential that can be revoked has all parts for it",
    ),
    (
        "process /metadata",
        "/link_secret_blinding_data/vr_prime",
        "its part for revocation is needed",
    ),
    (
        "process /cred_def",
        "/value/revocation",
        "the key for revocation is needed",
    ),
    (
        "process /cred_def",
        "/schemaId",
        "the definition is for another schema than the credential",
    ),
    (
        "state /registry",
        "/issuerId",
        "registry and status list are of different issuers",
    ),
    (
        "state /registry",
        "/value/tailsHash",
        "the tails file is not the registry's",
    ),
    (
        "state /registry",
        "/value/maxCredNum",
        "status list and tails file have another size",
    ),
    (
        "state /list",
        "/issuerId",
        "registry and status list are of different issuers",
    ),
    (
        "state /list",
        "/revRegDefId",
        "the status list is of another registry",
    ),
    (
        "state /list",
        "/revocationList",
        "the witness does not fit the accumulator",
    ),
    (
        "state /list",
        "/currentAccumulator",
        "the witness does not fit the accumulator",
    ),
    (
        "update_status_list /registry",
        "/issuerId",
        "registry and status list are of different issuers",
    ),
    (
        "update_status_list /registry",
        "/value/maxCredNum",
        "the status list has not the registry's size",
    ),
    (
        "update_status_list /list",
        "/issuerId",
        "registry and status list are of different issuers",
    ),
    (
        "update_status_list /list",
        "/revocationList",
        "the status list has not the registry's size",
    ),
    (
        "present /request",
        "/requested_attributes/a/name gone",
        "a requested attribute has a name",
    ),
    (
        "present /credentials/0/credential",
        "/rev_reg gone",
        "a credential that can be revoked has all parts for it",
    ),
    (
        "present /credentials/0/credential",
        "/witness gone",
        "a credential that can be revoked has all parts for it",
    ),
    (
        "present /credentials/0/credential",
        "/signature/r_credential gone",
        "a credential that can be revoked has all parts for it",
    ),
    (
        "verify /request",
        "/requested_predicates",
        "what is proven is compared with what was asked for",
    ),
    (
        "verify /presentation",
        "/requested_proof/revealed_attrs",
        "what people read is compared with what was signed",
    ),
    (
        "verify /cred_defs",
        "/schemaId",
        "the definition is for another schema than presented",
    ),
    (
        "verify /lists/1",
        "/issuerId",
        "the status list is another issuer's",
    ),
    (
        "verify /registries",
        "/credDefId",
        "the registry is for another definition",
    ),
    (
        "issue /cred_def",
        "/issuerId",
        "the registry is not of the definition's issuer",
    ),
    (
        "issue /revocation/registry",
        "/issuerId",
        "the registry is not of the definition's issuer",
    ),
    (
        "process /cred_def",
        "/issuerId",
        "the registry is not of the definition's issuer",
    ),
    (
        "process /registry",
        "/issuerId",
        "the registry is not of the definition's issuer",
    ),
    (
        "verify /cred_defs",
        "/issuerId",
        "the registry is not of the definition's issuer",
    ),
    (
        "issue /revocation/registry",
        "/credDefId",
        "the registry is for another definition",
    ),
    (
        "issue /revocation/registry",
        "/value/maxCredNum",
        "the status list has not the registry's size",
    ),
    (
        "process /registry",
        "/credDefId",
        "the registry is for another definition",
    ),
    (
        "verify /registries",
        "/issuerId",
        "registry and status list are of different issuers",
    ),
];

#[test]
#[ignore = "needs the oracle: `cargo xtask test` runs it"]
fn whatever_the_library_refuses_ours_refuses_and_ours_refuses_by_rules_that_it_names() {
    let mut table = table();
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(7);
    let good = good(&mut table, &mut dice, folder.path());
    let cases = cases(&good);
    let mut wrong = Vec::new();
    for case in cases {
        let mut altered = alterations(&mut dice, case.arguments.pointer(case.message).unwrap());
        let wanted = usize::try_from(count(10)).unwrap();
        while altered.len() > wanted {
            altered.swap_remove(dice.below(altered.len()));
        }
        for altered in altered {
            let mut arguments = case.arguments.clone();
            *arguments.pointer_mut(case.message).unwrap() = altered.text;
            let answers = table.each(case.call, &arguments);
            let ours = answers[0].1.is_ok();
            let library = answers[1].1.is_ok();
            let step = format!("{} {}", case.call, case.message);
            let excused = OWN_RULES.iter().any(|(begin, field, _)| {
                step.starts_with(begin) && altered.what.starts_with(field)
            });
            if ours && !library || library && !ours && !excused {
                let refusal = answers.iter().find_map(|(_, answer)| answer.as_ref().err());
                let what = if ours {
                    "not refused by ours"
                } else {
                    "refused by no rule that is named"
                };
                wrong.push(format!("{step} {}: {what}: {refusal:?}", altered.what));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
#[ignore = "needs the oracle: `cargo xtask test` runs it"]
fn well_formed_nonsense_is_refused() {
    let mut table = table();
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(8);
    let good = good(&mut table, &mut dice, folder.path());
    let other = table.define(&mut dice, true);
    let other_link_secret = table.must(&mut dice, "link_secret", &json!({}));
    let nonsense = nonsense(&Good {
        asking: &good.held.asking,
        issuing: &good.held.issuing,
        processing: &good.held.processing,
        witness: &good.witness,
        updating: &good.updating,
        presenting: &good.presenting,
        judging: &good.judging,
        other_cred_def: &other.cred_def,
        other_link_secret: &other_link_secret,
    });
    let mut taken = Vec::new();
    for Nonsense {
        why,
        call,
        arguments,
    } in nonsense
    {
        let answers = table.each(call, &arguments);
        if answers
            .iter()
            .any(|(who, answer)| *who == "ours" && answer.is_ok())
        {
            taken.push(format!("{call}: {why}"));
        }
    }
    assert!(taken.is_empty(), "these are taken: {taken:#?}");
}

/// Valid steps of one credential, with their arguments.
struct GoodSteps {
    definition: Definition,
    registry: Registry,
    held: Held,
    witness: Value,
    updating: Value,
    presenting: Value,
    judging: Value,
}

/// A credential of fixed attributes at place 1 of 4, presented with one attribute, one predicate and non-revocation.
fn good(table: &mut Table, dice: &mut Dice, folder: &Path) -> GoodSteps {
    let attributes = ["name", "age", "score"].map(str::to_owned).to_vec();
    let definition = table.define_for(dice, true, attributes);
    let mut registry = table.register(dice, &definition, 4, folder);
    let link_secret = table.must(dice, "link_secret", &json!({}));
    let values = [("name", "Alice"), ("age", "7"), ("score", "100")];
    let values = values
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let held = table.issue_values(
        dice,
        &definition,
        Some((&registry, 1)),
        (&link_secret, values),
    );
    let mut updating = registry.keys(&definition);
    updating["list"] = registry.lists[0].1.clone();
    updating["revoked"] = json!([2]);
    table.change(dice, &definition, &mut registry, [&[], &[2]]);
    let (newest, list) = registry.lists.last().unwrap().clone();
    let witness = json!({
        "registry": registry.definition, "list": list, "index": 1, "tails": registry.tails,
        "credential": held.credential, "cred_def": definition.cred_def });
    let state = table.must(dice, "state", &witness);
    let request = json!({
        "name": "t", "version": "1.0", "nonce": "123456789",
        "requested_attributes": { "a": { "name": "name", "restrictions": [{ "cred_def_id": definition.cred_def_id }] } },
        "requested_predicates": { "p": { "name": "age", "p_type": ">=", "p_value": 7 } },
        "non_revoked": { "from": newest, "to": newest } });
    let presenting = json!({
        "request": request.to_string(), "link_secret": link_secret,
        "credentials": [{
            "credential": held.credential, "timestamp": newest, "state": state, "attributes": [["a", true]],
            "predicates": ["p"] }],
        "schemas": { definition.schema_id.clone(): definition.schema },
        "cred_defs": { definition.cred_def_id.clone(): definition.cred_def } });
    let presentation = table.must(dice, "present", &presenting);
    let card = Card {
        definition: &definition,
        held: &held,
        registry: Some(&registry),
        ending: None,
    };
    let judging = judge(&presenting, presentation, &[card]);
    GoodSteps {
        definition,
        registry,
        held,
        witness,
        updating,
        presenting,
        judging,
    }
}

/// Each step with each of the messages it reads.
fn cases(good: &GoodSteps) -> Vec<Case> {
    let GoodSteps {
        definition,
        registry,
        held,
        witness,
        updating,
        presenting,
        judging,
    } = good;
    let case = |call, arguments: &Value, message| Case {
        call,
        arguments: arguments.clone(),
        message,
    };
    let mut cases = vec![
        case("request", &held.asking, "/cred_def"),
        case("request", &held.asking, "/offer"),
        case("issue", &held.issuing, "/cred_def"),
        case("issue", &held.issuing, "/offer"),
        case("issue", &held.issuing, "/request"),
        case("issue", &held.issuing, "/revocation/registry"),
        case("issue", &held.issuing, "/revocation/list"),
        case("process", &held.processing, "/credential"),
        case("process", &held.processing, "/metadata"),
        case("process", &held.processing, "/cred_def"),
        case("process", &held.processing, "/registry"),
        case("state", witness, "/registry"),
        case("state", witness, "/list"),
        case("update_status_list", updating, "/registry"),
        case("update_status_list", updating, "/list"),
        case("present", presenting, "/request"),
        case("present", presenting, "/credentials/0/credential"),
        case("present", presenting, "/credentials/0/state"),
        case("verify", judging, "/presentation"),
        case("verify", judging, "/request"),
        case("verify", judging, "/lists/1"),
    ];
    // Stored under their identifiers, so their locations are not known in advance.
    let kept = [
        ("schemas", &definition.schema_id),
        ("cred_defs", &definition.cred_def_id),
        ("registries", &registry.id),
    ];
    for (kind, id) in kept {
        let path = format!("/{kind}/{}", id.replace('~', "~0").replace('/', "~1"));
        cases.push(Case {
            call: "verify",
            arguments: judging.clone(),
            message: path.leak(),
        });
    }
    cases
}
