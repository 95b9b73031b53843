//! Verdicts of machine 1 on published AnonCreds JSON. The wallets' parser checks it, and a change of that parser must
//! not change a verdict (vectors/registry/anoncreds-1.txt).

use std::fmt::Write as _;

use selfsame_crypto::KeyType;
use selfsame_registry::Operation;
use selfsame_registry::anoncreds::Definition;
use selfsame_registry::refusal::CheckError;
use serde_json::{Value, json};

use crate::anoncreds::Published;
use crate::golden::file;
use crate::world::{Actor, World};

const FILE: &str = "vectors/registry/anoncreds-1.txt";
const HEADER: &str = "\
Documents as they are published, and what machine 1 (docs/registry-objects.md) says of each. A document is a sample of
vectors/anoncreds/legacy with its issuer's DID in it, changed: `set POINTER VALUE` and `remove POINTER` (RFC 6901) in its JSON,
`text FROM VALUE` in its text, all written as JSON. `=` is why it is refused, or `accepted`. Made by selfsame-registry
(tests/registry/anoncreds_verdicts.rs), and never made again for this machine; lines are added below.
----
";
/// Text replacements in the samples, which vary the form of the JSON.
const TEXTS: &[(&str, &str)] = &[
    ("{", " {"),
    ("{", "\u{feff}{"),
    ("{", "{\"more\":1,"),
    ("{", "{\"tag\":\"other\","),
    ("{", "{\"issuerId\":\"did:example:a\","),
    ("{", "[{"),
    ("{", "{,"),
    ("{", "{\"a\":01,"),
    ("{", "{\"a\":1e400,"),
    ("{", "{\"a\":\"\\ud800\","),
    ("{", "{\"a\":\"\t\","),
    ("{", "/**/{"),
    ("issuerId", "issuer_id"),
    ("issuerId", "\\u0069ssuerId"),
    ("attrNames", "attr_names"),
    ("schemaId", "schema_id"),
    ("credDefId", "cred_def_id"),
    ("maxCredNum", "max_cred_num"),
    ("\"CL\"", "\"cl\""),
    ("CL_ACCUM", "CL"),
    (":8,", ":8.0,"),
    (":8,", ":8e0,"),
    (":8,", ":-8,"),
    (":8,", ":\"8\","),
    (":8,", ":32768,"),
    (":8,", ":32769,"),
    (":8,", ":4294967296,"),
];

/// Values that replace values of the samples.
fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(""),
        json!("1"),
        json!("-1"),
        json!("a b"),
        json!("01"),
        json!("\u{130}\u{3a3}"),
        json!([]),
        json!({}),
    ]
}

/// The kind of a document, which also decides what must be published before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Schema,
    Definition,
    Registry,
}

const KINDS: [(&str, Kind); 3] = [
    ("schema", Kind::Schema),
    ("definition", Kind::Definition),
    ("registry", Kind::Registry),
];

/// A network in which everything that a document refers to is published, and an actor that publishes the document.
struct Publisher {
    world: World,
    owner: Actor,
    sample: String,
    kind: Kind,
}

impl Publisher {
    fn of(kind: Kind) -> Self {
        let mut world = World::new();
        let mut owner = world.registered(KeyType::Ed25519);
        let published = Published::by(owner.id, &world);
        let all = published.all();
        for operation in &all[..kind as usize] {
            world.act(&mut owner, vec![operation.clone()]).unwrap();
        }
        let sample = match &all[kind as usize] {
            Operation::Schema { json } | Operation::RevocationRegistry { json } => json.clone(),
            Operation::CredentialDefinition(definition) => definition.json.clone(),
            other => panic!("{other:?}"),
        };
        Self {
            world,
            owner,
            sample,
            kind,
        }
    }

    /// The machine's verdict on a document.
    fn verdict(&mut self, json: String) -> String {
        let operation = match self.kind {
            Kind::Schema => Operation::Schema { json },
            Kind::Definition => Operation::CredentialDefinition(Definition {
                json,
                successor_of: None,
                valid_until: None,
            }),
            Kind::Registry => Operation::RevocationRegistry { json },
        };
        let network = self.world.network().clone();
        let transaction = self.owner.sign(&network, operation);
        let (head, state) = (&self.world.head, &self.world.state);
        match self
            .world
            .machine
            .check(&transaction, head, self.world.time, state)
        {
            Ok(_) => "accepted".to_owned(),
            Err(CheckError::Refused(refusal)) => format!("{}: {refusal}", refusal.code()),
            Err(CheckError::State(error)) => panic!("{error}"),
        }
    }

    /// The sample after a change; `None` if the change does not apply.
    fn changed(&self, change: &str) -> Option<String> {
        let (how, what) = change.split_once(' ').unwrap();
        let mut arguments = serde_json::Deserializer::from_str(what).into_iter::<Value>();
        let mut next = || arguments.next().map(Result::unwrap);
        let text = next().unwrap();
        let (text, value) = (text.as_str().unwrap(), next());
        if how == "text" {
            let value = value.unwrap();
            let to = value.as_str().unwrap();
            let found = self.sample.contains(text);
            return found.then(|| self.sample.replacen(text, to, 1));
        }
        let mut sample: Value = serde_json::from_str(&self.sample).unwrap();
        let (parent, name) = text.rsplit_once('/')?;
        match (sample.pointer_mut(parent)?, value) {
            (Value::Object(object), Some(value)) => object.insert(name.to_owned(), value),
            (Value::Object(object), None) => object.remove(name),
            (Value::Array(array), Some(value)) => {
                array[name.parse::<usize>().unwrap()] = value;
                None
            }
            (Value::Array(array), None) => Some(array.remove(name.parse().unwrap())),
            _ => return None,
        };
        Some(sample.to_string())
    }

    /// The changes of the sample: each of its values replaced by others, and its text changed.
    fn changes(&self) -> Vec<String> {
        let mut places = Vec::new();
        let sample: Value = serde_json::from_str(&self.sample).unwrap();
        walk(&sample, "", &mut places);
        let mut changes = vec!["text \"{\" \"{\"".to_owned()];
        for place in places {
            let place = json!(place);
            changes.push(format!("remove {place}"));
            changes.extend(values().iter().map(|value| format!("set {place} {value}")));
        }
        let texts = TEXTS
            .iter()
            .map(|(from, to)| format!("text {} {}", json!(from), json!(to)));
        changes.extend(texts.filter(|change| self.changed(change).is_some()));
        changes
    }
}

fn walk(value: &Value, at: &str, places: &mut Vec<String>) {
    if !at.is_empty() {
        places.push(at.to_owned());
    }
    match value {
        Value::Object(object) => {
            let mut names: Vec<_> = object.iter().collect();
            names.sort_by_key(|(name, _)| name.as_str());
            for (name, value) in names {
                walk(value, &format!("{at}/{name}"), places);
            }
        }
        // The second element of a list is treated like the first.
        Value::Array(array) => {
            if let Some(first) = array.first() {
                walk(first, &format!("{at}/0"), places);
            }
        }
        _ => {}
    }
}

#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_verdicts_on_published_json() {
    let mut made = HEADER.to_owned();
    for (name, kind) in KINDS {
        let mut publisher = Publisher::of(kind);
        writeln!(made, "{name}").unwrap();
        for change in publisher.changes() {
            let json = publisher.changed(&change).unwrap();
            let verdict = publisher.verdict(json);
            writeln!(made, "{change}\n= {verdict}").unwrap();
        }
    }
    std::fs::write(file(FILE), made).unwrap();
}

#[test]
fn published_json_is_judged_as_it_was_when_machine_1_was_made() {
    let kept = std::fs::read_to_string(file(FILE)).unwrap();
    let (_, lines) = kept.split_once("----\n").unwrap();
    let (mut publisher, mut change, mut count) = (None, "", 0);
    for line in lines.lines() {
        let kind = KINDS.iter().find(|(name, _)| *name == line);
        if let Some((_, kind)) = kind {
            publisher = Some(Publisher::of(*kind));
        } else if let Some(verdict) = line.strip_prefix("= ") {
            let publisher = publisher.as_mut().unwrap();
            let json = publisher.changed(change).unwrap();
            assert_eq!(
                publisher.verdict(json),
                verdict,
                "{:?}: {change}",
                publisher.kind
            );
            count += 1;
        } else {
            change = line;
        }
    }
    assert!(count > 300, "{count} documents");
}
