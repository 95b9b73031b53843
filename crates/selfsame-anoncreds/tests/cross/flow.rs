//! One random flow: the party that defines, issues, holds, revokes, proves or verifies is drawn anew for every step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::party::Party;

const LEGACY_DID: &str = "NcYxiDXkpYi6ov5FcYDi1e";
const WORDS: &[&str] = &[
    "name",
    "Given Name",
    "age",
    "blood group",
    "Größe",
    "姓",
    "valid until",
    "ID",
    "score",
    "x",
];
const TEXTS: &[&str] = &[
    "",
    "Alice",
    "0042",
    " 7",
    "-0",
    "+5",
    "2147483648",
    "1e3",
    "Ω ünïcode",
    "a\nb\t\"c\"",
];

/// The parties, each of which can do every step.
pub struct Table {
    /// Our crate and the published library.
    pub parties: Vec<Box<dyn Party>>,
    /// The steps and who took them, for the report of a failure.
    pub story: Vec<String>,
}

/// A definition and its keys and schema, as JSON texts.
pub struct Definition {
    pub issuer_id: String,
    pub schema_id: String,
    pub schema: Value,
    pub cred_def_id: String,
    pub cred_def: Value,
    pub private: Value,
    pub proof: Value,
    pub attributes: Vec<String>,
}

/// A revocation registry and the lists published so far.
pub struct Registry {
    pub id: String,
    pub definition: Value,
    pub private: Value,
    pub tails: String,
    pub lists: Vec<(u64, Value)>,
}

/// A holder's data of one credential.
pub struct Held {
    pub values: BTreeMap<String, String>,
    pub credential: Value,
    pub index: Option<usize>,
    /// The arguments of the steps of its issuance.
    pub asking: Value,
    pub issuing: Value,
    pub processing: Value,
}

impl Table {
    /// One step by a random party.
    pub fn step(
        &mut self,
        dice: &mut Dice,
        call: &str,
        arguments: &Value,
    ) -> Result<Value, String> {
        let at = dice.below(self.parties.len());
        let party = &mut self.parties[at];
        self.story.push(format!("{call} by {}", party.name()));
        party.call(call, arguments)
    }

    /// One step that must succeed.
    pub fn must(&mut self, dice: &mut Dice, call: &str, arguments: &Value) -> Value {
        match self.step(dice, call, arguments) {
            Ok(answer) => answer,
            Err(error) => self.fail(&error, arguments),
        }
    }

    /// Ends the test, and writes the messages to a file.
    pub fn fail(&self, why: &str, arguments: &Value) -> ! {
        let file = std::env::temp_dir().join("selfsame-cross-failure.json");
        std::fs::write(&file, format!("{arguments:#}")).unwrap();
        panic!("{why}; with {}; after {:#?}", file.display(), self.story)
    }

    /// One step by each party; a negative verdict counts as a refusal.
    pub fn each(
        &mut self,
        call: &str,
        arguments: &Value,
    ) -> Vec<(&'static str, Result<Value, String>)> {
        let answers = self.parties.iter_mut().map(|party| {
            let answer = party.call(call, arguments).and_then(|answer| {
                if answer == Value::Bool(false) {
                    Err("it says no".to_owned())
                } else {
                    Ok(answer)
                }
            });
            (party.name(), answer)
        });
        answers.collect()
    }

    /// A schema of random attributes and a definition for it.
    pub fn define(&mut self, dice: &mut Dice, revocation: bool) -> Definition {
        let mut attributes: Vec<String> = Vec::new();
        let first = dice.below(WORDS.len());
        for at in 0..=dice.below(6) {
            attributes.push(WORDS[(first + at) % WORDS.len()].to_owned());
        }
        self.define_for(dice, revocation, attributes)
    }

    /// A schema of these attributes and a definition for it.
    pub fn define_for(
        &mut self,
        dice: &mut Dice,
        revocation: bool,
        attributes: Vec<String>,
    ) -> Definition {
        let legacy = dice.once_in(2);
        let (issuer_id, schema_id, cred_def_id) = if legacy {
            let schema_id = format!("{LEGACY_DID}:2:test:1.{}", dice.below(9));
            let cred_def_id = format!("{LEGACY_DID}:3:CL:{schema_id}:tag");
            (LEGACY_DID.to_owned(), schema_id, cred_def_id)
        } else {
            let issuer = "did:web:issuer.example".to_owned();
            let number = dice.below(1000);
            (
                issuer.clone(),
                format!("{issuer}/s/{number}"),
                format!("{issuer}/c/{number}"),
            )
        };
        let schema = self.must(
            dice,
            "schema",
            &json!({
            "name": "test", "version": "1.0", "issuer_id": issuer_id, "attributes": attributes }),
        );
        let made = self.must(
            dice,
            "credential_definition",
            &json!({
            "schema_id": schema_id, "schema": schema, "issuer_id": issuer_id, "tag": "tag", "revocation": revocation }),
        );
        let [cred_def, private, proof] = parts(made);
        Definition {
            issuer_id,
            schema_id,
            schema,
            cred_def_id,
            cred_def,
            private,
            proof,
            attributes,
        }
    }

    /// A registry of `size` places, its tails file in `folder`, and its first list.
    pub fn register(
        &mut self,
        dice: &mut Dice,
        of: &Definition,
        size: usize,
        folder: &Path,
    ) -> Registry {
        let made = self.must(dice, "registry", &json!({
            "cred_def_id": of.cred_def_id, "cred_def": of.cred_def, "cred_def_private": of.private, "issuer_id": of.issuer_id, "tag": "r",
            "size": size, "tails_directory": folder }));
        let [definition, private] = parts(made);
        let tails = read(&definition)["value"]["tailsLocation"]
            .as_str()
            .unwrap()
            .to_owned();
        let id = match of.issuer_id.as_str() {
            LEGACY_DID => format!("{LEGACY_DID}:4:{}:CL_ACCUM:r", of.cred_def_id),
            issuer => format!("{issuer}/r/1"),
        };
        let mut registry = Registry {
            id,
            definition,
            private,
            tails,
            lists: Vec::new(),
        };
        let mut arguments = registry.keys(of);
        arguments["registry_id"] = json!(registry.id);
        arguments["issuer_id"] = json!(of.issuer_id);
        // Lists that begin with no place issued are tested with ours alone.
        arguments["by_default"] = json!(true);
        arguments["timestamp"] = json!(1000);
        registry
            .lists
            .push((1000, self.must(dice, "status_list", &arguments)));
        registry
    }

    /// A new list with these places issued and those revoked.
    pub fn change(
        &mut self,
        dice: &mut Dice,
        of: &Definition,
        registry: &mut Registry,
        sets: [&[usize]; 2],
    ) {
        let (before, list) = registry.lists.last().unwrap().clone();
        let mut arguments = registry.keys(of);
        arguments["list"] = list;
        arguments["issued"] = json!(sets[0]);
        arguments["revoked"] = json!(sets[1]);
        arguments["timestamp"] = json!(before + 100);
        let list = self.must(dice, "update_status_list", &arguments);
        registry.lists.push((before + 100, list));
    }

    /// A credential of random values, at this place of the registry if there is one.
    pub fn issue(
        &mut self,
        dice: &mut Dice,
        of: &Definition,
        place: Option<(&Registry, usize)>,
        link_secret: &Value,
    ) -> Held {
        let values = of
            .attributes
            .iter()
            .map(|name| (name.clone(), value(dice)))
            .collect();
        self.issue_values(dice, of, place, (link_secret, values))
    }

    /// A credential of these values.
    pub fn issue_values(
        &mut self,
        dice: &mut Dice,
        of: &Definition,
        place: Option<(&Registry, usize)>,
        (link_secret, values): (&Value, BTreeMap<String, String>),
    ) -> Held {
        let offer = self.must(dice, "offer", &json!({
            "schema_id": of.schema_id, "cred_def_id": of.cred_def_id, "key_correctness_proof": of.proof }));
        let mut asking = json!({
            "cred_def": of.cred_def, "link_secret": link_secret, "link_secret_id": "main", "offer": offer });
        if of.is_legacy() && dice.once_in(2) {
            asking["prover_did"] = json!("3mh1e1Vi2YDrLGmpD1Vc5J");
        } else {
            asking["entropy"] = json!("some entropy");
        }
        let [request, metadata] = parts(self.must(dice, "request", &asking));
        let mut issuing = json!({
            "cred_def": of.cred_def, "cred_def_private": of.private, "offer": offer, "request": request,
            "values": values });
        let mut processing =
            json!({ "metadata": metadata, "link_secret": link_secret, "cred_def": of.cred_def });
        let mut index = None;
        if let Some((registry, at)) = place {
            let list = registry.lists.last().unwrap().1.clone();
            issuing["revocation"] = json!({
                "registry": registry.definition, "registry_private": registry.private, "list": list, "index": at });
            processing["registry"] = registry.definition.clone();
            index = Some(at);
        }
        processing["credential"] = self.must(dice, "issue", &issuing);
        let credential = self.must(dice, "process", &processing);
        Held {
            values,
            credential,
            index,
            asking,
            issuing,
            processing,
        }
    }
}

impl Definition {
    /// Whether its identifiers are legacy ones.
    pub fn is_legacy(&self) -> bool {
        self.issuer_id == LEGACY_DID
    }
}

impl Registry {
    /// The arguments that give the library a registry and its keys.
    pub fn keys(&self, of: &Definition) -> Value {
        json!({ "cred_def": of.cred_def, "cred_def_private": of.private, "registry": self.definition, "registry_private": self.private })
    }

    /// The places that the newest list revokes.
    pub fn revoked(&self) -> BTreeSet<usize> {
        revoked_by(&self.lists.last().unwrap().1)
    }

    /// The data with which a holder proves non-revocation by the newest list: computed from that list, or updated from
    /// list to list over those in which the credential was not revoked.
    pub fn state(
        &self,
        table: &mut Table,
        dice: &mut Dice,
        of: &Definition,
        held: &Held,
    ) -> Result<Value, String> {
        let at = held.index.unwrap();
        let (newest, older) = self.lists.split_last().unwrap();
        let mut path: Vec<&Value> = older
            .iter()
            .map(|(_, list)| list)
            .filter(|list| !revoked_by(list).contains(&at))
            .collect();
        path.drain(..dice.below(path.len() + 1));
        path.push(&newest.1);
        let mut state = Value::Null;
        for (number, list) in path.iter().enumerate() {
            // The library needs the index as an argument; ours finds it in the credential, and checks the state with
            // it.
            let mut arguments = json!({
                "registry": self.definition, "list": list, "index": at, "tails": self.tails,
                "credential": held.credential, "cred_def": of.cred_def });
            if number > 0 {
                arguments["state"] = state;
                arguments["old_list"] = path[number - 1].clone();
            }
            state = table.step(dice, "state", &arguments)?;
        }
        Ok(state)
    }
}

fn revoked_by(list: &Value) -> BTreeSet<usize> {
    let list = read(list);
    let bits = list["revocationList"].as_array().unwrap();
    (0..bits.len()).filter(|at| bits[*at] == 1).collect()
}

/// A random raw value: a number of any size that fits, or any text.
fn value(dice: &mut Dice) -> String {
    match dice.below(3) {
        0 => (*dice.pick(TEXTS)).to_owned(),
        _ => dice.integer().to_string(),
    }
}

/// The JSON texts of a step with several results.
pub fn parts<const N: usize>(made: Value) -> [Value; N] {
    let Value::Array(made) = made else {
        panic!("{made} is not a list")
    };
    made.try_into().expect("as many results as the step has")
}

/// Parses a message.
pub fn read(text: &Value) -> Value {
    serde_json::from_str(text.as_str().expect("a message")).expect("JSON")
}
