//! The measured operations and their messages. Both sides get equal messages, which the library makes beforehand.

use std::path::Path;

use serde_json::{Value, json};

use crate::party::Party;
use crate::rig::Wheel;

/// One operation, with the arguments that `oracle.py` knows.
pub struct Operation {
    /// The figure's name.
    pub name: &'static str,
    /// The call that it measures.
    pub call: &'static str,
    /// Its arguments.
    pub arguments: Value,
    /// The required minimum of our speed relative to the library, warm, on a processor with IFMA.
    pub bar_ifma: Option<f64>,
    /// The required minimum on the two paths for other processors.
    pub bar_portable: Option<f64>,
    /// Whether it is also measured with empty caches; then it must not be slower than the library.
    pub cold: bool,
    /// The library's time in an earlier study, in milliseconds, the best of 30; `None` if it was not studied.
    pub study_ms: Option<f64>,
}

const SCHEMA_ID: &str = "did:example:issuer/schema/1";
const CRED_DEF_ID: &str = "did:example:issuer/cred-def/1";
const REGISTRY_ID: &str = "did:example:issuer/registry/1";
const ISSUER: &str = "did:example:issuer";
const NOW: u64 = 1_700_000_000;
const INDEX: u64 = 7;

/// An issuer's messages, with or without revocation.
struct Issuer {
    schema: Value,
    cred_def: Value,
    private: Value,
    offer: Value,
    proof: Value,
}

/// A registry with 1,000 places, and two of its lists.
struct Registry {
    keys: Value,
    definition: Value,
    private: Value,
    tails: Value,
    list: Value,
    later: Value,
    revoking: Value,
}

/// A credential, with the messages of its issuance.
struct Held {
    asking: Value,
    issuing: Value,
    processing: Value,
    credential: Value,
}

/// The operations of the table, in its order.
pub fn operations(wheel: &mut Wheel, folder: &Path) -> Vec<Operation> {
    let mut made = Maker { wheel };
    let plain = made.issuer(false);
    let revocable = made.issuer(true);
    let registry = made.registry(&revocable, folder);
    let link_secret = made.call("link_secret", &json!({}));
    let one = made.held(&plain, None, &link_secret);
    let two = made.held(&revocable, Some(&registry), &link_secret);
    let state = made.call("state", &registry.witness(&revocable, &two));
    let mut operations = vec![
        made.searching(&plain),
        defining("credential_definition", &plain, false, 931.0),
        defining("credential_definition_revocable", &revocable, true, 368.0),
    ];
    operations.extend(registering(&revocable, (&registry, &two), folder));
    operations.push(Operation {
        cold: true,
        ..plainly("offer", "offer", json!({
            "schema_id": SCHEMA_ID, "cred_def_id": CRED_DEF_ID, "key_correctness_proof": plain.proof }), 0.002)
    });
    operations.extend(issuing(&one, &two));
    let shown = made.presentations(&plain, &one, &link_secret, None);
    operations.extend(shown);
    let shown = made.presentations(&revocable, &two, &link_secret, Some((&registry, &state)));
    operations.extend(shown);
    operations
}

struct Maker<'a> {
    wheel: &'a mut Wheel,
}

impl Maker<'_> {
    fn call(&mut self, call: &str, arguments: &Value) -> Value {
        self.wheel
            .call(call, arguments)
            .unwrap_or_else(|error| panic!("{call}: {error}"))
    }

    fn issuer(&mut self, revocation: bool) -> Issuer {
        let schema = self.call(
            "schema",
            &json!({
            "name": "person", "version": "1.0", "issuer_id": ISSUER,
            "attributes": ["name", "sex", "age", "height", "degree"] }),
        );
        let mut made = self.call("credential_definition", &json!({
            "schema_id": SCHEMA_ID, "schema": schema, "issuer_id": ISSUER, "tag": "a", "revocation": revocation }));
        let [cred_def, private, proof] = [0, 1, 2].map(|at| made[at].take());
        let offer = self.call(
            "offer",
            &json!({
            "schema_id": SCHEMA_ID, "cred_def_id": CRED_DEF_ID, "key_correctness_proof": proof }),
        );
        Issuer {
            schema,
            cred_def,
            private,
            offer,
            proof,
        }
    }

    /// A search for a safe prime by both sides from one start, so that both test equal numbers.
    fn searching(&mut self, of: &Issuer) -> Operation {
        let private: Value =
            serde_json::from_str(of.private.as_str().unwrap_or_default()).unwrap_or_default();
        let half = &private["value"]["p_key"]["p"];
        let start = self.call("safe_prime_start", &json!({ "half": half }));
        let arguments = json!({ "start": start });
        let found = self.call("safe_prime_from", &arguments);
        assert!(found.is_string(), "there is a prime on the way");
        Operation {
            bar_ifma: Some(1.0),
            bar_portable: Some(1.0),
            study_ms: None,
            ..plainly(
                "safe_prime_same_candidates",
                "safe_prime_from",
                arguments,
                0.0,
            )
        }
    }

    fn registry(&mut self, of: &Issuer, folder: &Path) -> Registry {
        let mut made = self.call("registry", &registry_arguments(of, 1000, folder));
        let [definition, private] = [0, 1].map(|at| made[at].take());
        let written: Value =
            serde_json::from_str(definition.as_str().unwrap_or_default()).unwrap_or_default();
        let tails = written["value"]["tailsLocation"].clone();
        let keys = json!({
            "cred_def": of.cred_def, "cred_def_private": of.private, "registry": definition, "registry_private": private, "registry_id": REGISTRY_ID,
            "issuer_id": ISSUER, "by_default": true, "timestamp": NOW });
        let list = self.call("status_list", &keys);
        let mut revoking = keys.clone();
        revoking["list"] = list.clone();
        revoking["revoked"] = json!([11, 222, 333, 444, 555]);
        revoking["timestamp"] = json!(NOW + 1);
        let later = self.call("update_status_list", &revoking);
        Registry {
            keys,
            definition,
            private,
            tails,
            list,
            later,
            revoking,
        }
    }

    fn held(&mut self, of: &Issuer, registry: Option<&Registry>, link_secret: &Value) -> Held {
        let asking = json!({
            "entropy": "entropy", "cred_def": of.cred_def, "link_secret": link_secret, "link_secret_id": "main",
            "offer": of.offer });
        let mut made = self.call("request", &asking);
        let [request, metadata] = [0, 1].map(|at| made[at].take());
        let mut issuing = json!({
            "cred_def": of.cred_def, "cred_def_private": of.private, "offer": of.offer, "request": request,
            "values": { "name": "Alice Garcia", "sex": "female", "age": "28", "height": "175", "degree": "Maths" } });
        let mut processing =
            json!({ "metadata": metadata, "link_secret": link_secret, "cred_def": of.cred_def });
        if let Some(registry) = registry {
            issuing["revocation"] = json!({
                "registry": registry.definition, "registry_private": registry.private, "list": registry.list,
                "index": INDEX });
            processing["registry"] = registry.definition.clone();
        }
        processing["credential"] = self.call("issue", &issuing);
        let credential = self.call("process", &processing);
        Held {
            asking,
            issuing,
            processing,
            credential,
        }
    }

    /// Two revealed attributes, alone and with a predicate, each without and with non-revocation.
    fn presentations(
        &mut self,
        of: &Issuer,
        held: &Held,
        link_secret: &Value,
        revocation: Option<(&Registry, &Value)>,
    ) -> Vec<Operation> {
        let kinds: &[(&'static str, &'static str, bool, f64, f64)] = match revocation {
            None => &[
                ("present_revealed", "verify_revealed", false, 16.7, 15.5),
                ("present_predicate", "verify_predicate", true, 51.3, 50.4),
            ],
            Some(_) => &[(
                "present_non_revoked",
                "verify_non_revoked",
                true,
                61.6,
                61.3,
            )],
        };
        let mut operations = Vec::new();
        for (present, verify, predicate, present_ms, verify_ms) in kinds {
            let presenting = self.question(of, held, link_secret, (*predicate, revocation));
            let presentation = self.call("present", &presenting);
            let mut judging = json!({
                "presentation": presentation, "request": presenting["request"], "schemas": presenting["schemas"],
                "cred_defs": presenting["cred_defs"] });
            if let Some((registry, _)) = revocation {
                judging["registries"] = json!({ REGISTRY_ID: registry.definition });
                judging["lists"] = json!([registry.later]);
            }
            let bar = |bar| revocation.is_none().then_some(bar);
            operations.push(Operation {
                bar_ifma: bar(10.0),
                bar_portable: bar(2.5),
                cold: true,
                ..plainly(present, "present", presenting, *present_ms)
            });
            operations.push(Operation {
                bar_ifma: bar(15.0),
                bar_portable: bar(3.5),
                cold: true,
                ..plainly(verify, "verify", judging, *verify_ms)
            });
        }
        operations
    }

    fn question(
        &mut self,
        of: &Issuer,
        held: &Held,
        link_secret: &Value,
        (predicate, revocation): (bool, Option<(&Registry, &Value)>),
    ) -> Value {
        let nonce = self.call("nonce", &json!({}));
        let mut request = json!({
            "name": "question", "version": "1.0", "nonce": nonce,
            "requested_attributes": { "name": { "name": "name" }, "degree": { "name": "degree" } },
            "requested_predicates": {} });
        let mut choice = json!({
            "credential": held.credential, "attributes": [["name", true], ["degree", true]], "predicates": [] });
        if predicate {
            request["requested_predicates"] =
                json!({ "adult": { "name": "age", "p_type": ">=", "p_value": 18 } });
            choice["predicates"] = json!(["adult"]);
        }
        if let Some((_, state)) = revocation {
            request["non_revoked"] = json!({ "from": NOW, "to": NOW + 10 });
            choice["timestamp"] = json!(NOW + 1);
            choice["state"] = state.clone();
        }
        json!({
            "request": request.to_string(), "credentials": [choice], "link_secret": link_secret,
            "schemas": { SCHEMA_ID: of.schema }, "cred_defs": { CRED_DEF_ID: of.cred_def } })
    }
}

impl Registry {
    /// The arguments for computing a whole witness for the later list, from nothing.
    fn witness(&self, of: &Issuer, held: &Held) -> Value {
        json!({
            "registry": self.definition, "list": self.later, "index": INDEX, "tails": self.tails,
            "credential": held.credential, "cred_def": of.cred_def })
    }
}

fn plainly(name: &'static str, call: &'static str, arguments: Value, study_ms: f64) -> Operation {
    Operation {
        name,
        call,
        arguments,
        bar_ifma: None,
        bar_portable: None,
        cold: false,
        study_ms: Some(study_ms),
    }
}

fn defining(name: &'static str, of: &Issuer, revocation: bool, study_ms: f64) -> Operation {
    let arguments = json!({
        "schema_id": SCHEMA_ID, "schema": of.schema, "issuer_id": ISSUER, "tag": "a", "revocation": revocation });
    plainly(name, "credential_definition", arguments, study_ms)
}

fn registry_arguments(of: &Issuer, size: u64, folder: &Path) -> Value {
    json!({
        "cred_def_id": CRED_DEF_ID, "cred_def": of.cred_def, "cred_def_private": of.private, "issuer_id": ISSUER, "tag": "r", "size": size,
        "tails_directory": folder })
}

fn registering(of: &Issuer, (registry, held): (&Registry, &Held), folder: &Path) -> Vec<Operation> {
    let making = |size| registry_arguments(of, size, folder);
    let witness = Operation {
        bar_ifma: Some(4.0),
        ..plainly("witness", "state", registry.witness(of, held), 2.8)
    };
    vec![
        plainly("registry_100", "registry", making(100), 42.0),
        plainly("registry_1000", "registry", making(1000), 405.0),
        plainly("status_list", "status_list", registry.keys.clone(), 3.8),
        plainly(
            "status_list_revoke_5",
            "update_status_list",
            registry.revoking.clone(),
            0.39,
        ),
        witness,
    ]
}

fn issuing(one: &Held, two: &Held) -> Vec<Operation> {
    let cold = |operation| Operation {
        cold: true,
        ..operation
    };
    let barred = |operation| Operation {
        bar_ifma: Some(8.0),
        ..operation
    };
    vec![
        cold(barred(plainly(
            "request",
            "request",
            one.asking.clone(),
            36.1,
        ))),
        cold(barred(plainly("issue", "issue", one.issuing.clone(), 24.0))),
        cold(plainly(
            "issue_revocable",
            "issue",
            two.issuing.clone(),
            24.9,
        )),
        cold(plainly("process", "process", one.processing.clone(), 16.7)),
        cold(plainly(
            "process_revocable",
            "process",
            two.processing.clone(),
            19.6,
        )),
    ]
}
