//! AnonCreds objects, made from the output of the published library (vectors/anoncreds).

use selfsame_crypto::KeyType;
use selfsame_did::Did;
use selfsame_proof::cbor::CborItem as _;
use selfsame_registry::anoncreds::{
    Definition, ObjectName, PublishedDefinition, PublishedSchema, RevocationEntry, Succession,
};
use selfsame_registry::network::Act;
use selfsame_registry::refusal::{EntryFault, ObjectFault};
use selfsame_registry::{Identifier, Operation, Refusal, Rules};
use serde_json::{Value, json};

use crate::world::{Actor, Answer, START, World};

const SCHEMA_NAME: &str = "driving licence";

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../vectors/anoncreds/legacy/",
            $name,
            ".json"
        ))
    };
}

/// The AnonCreds objects of one issuer.
pub struct Published {
    pub did: Did,
    schema: Value,
    definition: Value,
    registry: Value,
    accumulators: [String; 3],
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

impl Published {
    pub fn by(owner: Identifier, world: &World) -> Self {
        let did = world.machine.did(owner).unwrap();
        let mut schema = parse(sample!("schema"));
        schema["issuerId"] = json!(did.as_str());
        schema["name"] = json!(SCHEMA_NAME);
        let mut definition = parse(sample!("cred_def"));
        definition["issuerId"] = json!(did.as_str());
        let mut registry = parse(sample!("rev_reg_def"));
        registry["issuerId"] = json!(did.as_str());
        let lists = [
            sample!("status_list"),
            sample!("status_list_updated"),
            sample!("status_list_reinstated"),
        ];
        let accumulator = |list| {
            let list: Value = parse(list);
            list["currentAccumulator"].as_str().unwrap().to_owned()
        };
        let mut published = Self {
            did,
            schema,
            definition,
            registry,
            accumulators: lists.map(accumulator),
        };
        published.definition["schemaId"] = json!(published.schema_id());
        published.registry["credDefId"] = json!(published.definition_id());
        published
    }

    pub fn schema_id(&self) -> String {
        let version = self.schema["version"].as_str().unwrap();
        let name = self.schema["name"].as_str().unwrap();
        ObjectName::schema(&self.did, name, version)
            .unwrap()
            .to_string()
    }

    pub fn definition_id(&self) -> String {
        let tag = self.definition["tag"].as_str().unwrap();
        let schema = self.definition["schemaId"].as_str().unwrap();
        ObjectName::definition(&self.did, schema, tag)
            .unwrap()
            .to_string()
    }

    pub fn registry_id(&self) -> String {
        let tag = self.registry["tag"].as_str().unwrap();
        let definition = self.registry["credDefId"].as_str().unwrap();
        ObjectName::registry(&self.did, definition, tag)
            .unwrap()
            .to_string()
    }

    pub fn schema(&self) -> Operation {
        let json = self.schema.to_string();
        Operation::Schema { json }
    }

    pub fn definition(&self) -> Operation {
        Operation::CredentialDefinition(self.plain_definition())
    }

    fn plain_definition(&self) -> Definition {
        Definition {
            json: self.definition.to_string(),
            successor_of: None,
            valid_until: None,
        }
    }

    pub fn registry(&self) -> Operation {
        let json = self.registry.to_string();
        Operation::RevocationRegistry { json }
    }

    pub fn first_entry(&self) -> RevocationEntry {
        RevocationEntry {
            registry: self.registry_id(),
            before: None,
            after: self.accumulators[0].clone(),
            issued: Vec::new(),
            revoked: Vec::new(),
        }
    }

    /// The entry after accumulator `n`; the sample accumulators are used in rotation.
    pub fn entry(&self, n: usize, issued: &[u32], revoked: &[u32]) -> RevocationEntry {
        RevocationEntry {
            registry: self.registry_id(),
            before: Some(self.accumulators[n].clone()),
            after: self.accumulators[(n + 1) % 3].clone(),
            issued: issued.to_vec(),
            revoked: revoked.to_vec(),
        }
    }

    pub fn all(&self) -> Vec<Operation> {
        vec![self.schema(), self.definition(), self.registry()]
    }
}

struct Issuer {
    world: World,
    actor: Actor,
    published: Published,
}

impl Issuer {
    fn new() -> Self {
        Self::with_rules(Rules::default())
    }

    fn with_rules(rules: Rules) -> Self {
        let mut world = World::with_rules(rules);
        let actor = world.registered(KeyType::P256);
        let published = Published::by(actor.id, &world);
        Self {
            world,
            actor,
            published,
        }
    }

    fn act(&mut self, operations: Vec<Operation>) -> Answer {
        self.world.act(&mut self.actor, operations)
    }

    fn with_all() -> Self {
        let mut issuer = Self::new();
        let all = issuer.published.all();
        issuer.act(all).unwrap();
        issuer
    }

    fn enter(&mut self, entry: RevocationEntry) -> Answer {
        self.act(vec![Operation::RevocationEntry(entry)])
    }
}

fn object(fault: ObjectFault) -> Answer {
    Err(Refusal::Object(fault))
}

#[test]
fn schema_definition_and_registry_are_published_in_one_transaction_and_found_by_their_names() {
    let mut issuer = Issuer::new();
    let all = issuer.published.all();
    let receipt = issuer.act(all).unwrap();
    let Issuer {
        world, published, ..
    } = &issuer;
    let (machine, state) = (&world.machine, &world.state);
    let schema = machine.schema(state, &published.schema_id()).unwrap();
    let schema = schema.unwrap();
    assert_eq!(
        (schema.json, schema.receipt),
        (published.schema.to_string(), receipt)
    );
    let definition = machine.credential_definition(state, &published.definition_id());
    let definition = definition.unwrap().unwrap();
    assert_eq!(definition.definition, published.plain_definition());
    assert_eq!(definition.valid_until(), None);
    let registry = machine.revocation_registry(state, &published.registry_id());
    assert_eq!(
        registry.unwrap().unwrap().json,
        published.registry.to_string()
    );
    let id = published.schema_id();
    assert_eq!(
        id,
        format!(
            "{}/anoncreds/v0/SCHEMA/driving%20licence/{}",
            published.did,
            published.schema["version"].as_str().unwrap()
        )
    );
    // An object is not found by the name of another kind, nor by its own name in another spelling.
    assert_eq!(machine.schema(state, &published.definition_id()), Ok(None));
    for other in [
        id.replace("%20", " "),
        id.replace("%20", "%2520"),
        format!("{id}/"),
        format!("{id}/v"),
    ] {
        assert_eq!(machine.schema(state, &other), Ok(None), "{other}");
    }
}

#[test]
fn what_is_published_never_changes() {
    let mut issuer = Issuer::with_all();
    for operation in issuer.published.all() {
        assert_eq!(issuer.act(vec![operation]), object(ObjectFault::Exists));
    }
}

#[test]
fn an_author_publishes_in_no_other_name() {
    let mut issuer = Issuer::new();
    let mut other = issuer.world.registered(KeyType::Ed25519);
    let refused = |act| Err(Refusal::NotAllowed { act });
    let (schema, definition) = (issuer.published.schema(), issuer.published.definition());
    let registry = issuer.published.registry();
    let world = &mut issuer.world;
    assert_eq!(
        world.act(&mut other, vec![schema]),
        refused(Act::PublishSchema)
    );
    assert_eq!(
        world.act(&mut other, vec![definition]),
        refused(Act::PublishDefinition)
    );
    assert_eq!(
        world.act(&mut other, vec![registry]),
        refused(Act::PublishRegistry)
    );
}

#[test]
fn what_an_object_refers_to_has_to_be_there() {
    let mut issuer = Issuer::new();
    let (schema, definition) = (issuer.published.schema(), issuer.published.definition());
    let registry = issuer.published.registry();
    let entry = Operation::RevocationEntry(issuer.published.first_entry());
    assert_eq!(
        issuer.act(vec![definition.clone()]),
        object(ObjectFault::Unknown)
    );
    issuer.act(vec![schema]).unwrap();
    assert_eq!(
        issuer.act(vec![registry.clone()]),
        object(ObjectFault::Unknown)
    );
    issuer.act(vec![definition]).unwrap();
    assert_eq!(issuer.act(vec![entry]), object(ObjectFault::Unknown));
    assert!(issuer.act(vec![registry]).is_ok());
}

#[test]
fn malformed_objects_are_refused_with_the_reason() {
    let mut issuer = Issuer::new();
    let json = "{}".to_owned();
    assert!(matches!(
        issuer.act(vec![Operation::Schema { json }]),
        Err(Refusal::Object(ObjectFault::Json { .. }))
    ));
    let mut twice = issuer.published.schema.clone();
    twice["attrNames"] = json!(["a", "A"]);
    let json = twice.to_string();
    assert_eq!(
        issuer.act(vec![Operation::Schema { json }]),
        object(ObjectFault::Json {
            what: "the schema",
            why: "two attributes have one name"
        })
    );
    let mut nameless = issuer.published.schema.clone();
    nameless["name"] = json!("");
    let json = nameless.to_string();
    assert_eq!(
        issuer.act(vec![Operation::Schema { json }]),
        object(ObjectFault::Name)
    );
}

#[test]
fn a_definition_for_other_attributes_or_with_a_broken_key_is_refused() {
    let mut issuer = Issuer::new();
    issuer.act(vec![issuer.published.schema()]).unwrap();
    let definition = |change: &dyn Fn(&mut Value)| {
        let mut json = issuer.published.definition.clone();
        change(&mut json);
        Operation::CredentialDefinition(Definition {
            json: json.to_string(),
            ..issuer.published.plain_definition()
        })
    };
    let fewer = definition(&|json| {
        let bases = json["value"]["primary"]["r"].as_object_mut().unwrap();
        let name = bases
            .keys()
            .find(|name| *name != "master_secret")
            .unwrap()
            .clone();
        bases.remove(&name);
    });
    let even = definition(&|json| {
        let n = json["value"]["primary"]["n"].as_str().unwrap();
        let even = format!("{}2", &n[..n.len() - 1]);
        json["value"]["primary"]["n"] = json!(even);
    });
    let short = definition(&|json| json["value"]["primary"]["n"] = json!("15"));
    let other = definition(&|json| json["type"] = json!("BBS"));
    assert_eq!(
        issuer.act(vec![fewer]),
        object(ObjectFault::Json {
            what: "the schema",
            why: "its attributes are not those of the credential definition"
        })
    );
    assert_eq!(issuer.act(vec![even]), object(ObjectFault::Key));
    assert_eq!(issuer.act(vec![short]), object(ObjectFault::Key));
    assert!(matches!(
        issuer.act(vec![other]),
        Err(Refusal::Object(ObjectFault::Json { .. }))
    ));
}

#[test]
fn a_definition_is_succeeded_once_by_one_of_the_same_issuer_and_schema() {
    let mut issuer = Issuer::with_all();
    let first = issuer.published.definition_id();
    let until = START.plus(600);
    let successor = |issuer: &mut Issuer, tag: &str, of: &str| {
        issuer.published.definition["tag"] = json!(tag);
        let successor_of = Some(Succession {
            definition: of.to_owned(),
            until,
        });
        let definition = Definition {
            successor_of,
            valid_until: Some(START.plus(9_999)),
            ..issuer.published.plain_definition()
        };
        issuer.act(vec![Operation::CredentialDefinition(definition)])
    };
    successor(&mut issuer, "second", &first).unwrap();
    let second = issuer.published.definition_id();
    let read = |issuer: &Issuer, id: &str| {
        let (machine, state) = (&issuer.world.machine, &issuer.world.state);
        machine.credential_definition(state, id).unwrap().unwrap()
    };
    let old = read(&issuer, &first);
    assert_eq!(old.valid_until(), Some(until));
    assert_eq!(old.succeeded_by.unwrap().definition, second);
    let new = read(&issuer, &second);
    assert_eq!(
        new.definition.successor_of.clone().unwrap().definition,
        first
    );
    assert_eq!(new.valid_until(), Some(START.plus(9_999)));
    assert_eq!(
        successor(&mut issuer, "third", &first),
        object(ObjectFault::Succession)
    );
    let nowhere = second.replace("second", "nowhere");
    assert_eq!(
        successor(&mut issuer, "third", &nowhere),
        object(ObjectFault::Unknown)
    );
    assert!(successor(&mut issuer, "third", &second).is_ok());
}

#[test]
fn a_definition_that_has_ended_already_is_refused() {
    let mut issuer = Issuer::new();
    let ended = Definition {
        valid_until: Some(START),
        ..issuer.published.plain_definition()
    };
    let both = vec![
        issuer.published.schema(),
        Operation::CredentialDefinition(ended),
    ];
    assert_eq!(issuer.act(both), object(ObjectFault::Expired));
}

#[test]
fn objects_past_the_networks_limits_are_refused() {
    let mut issuer = Issuer::with_rules(Rules {
        max_object_bytes: 2_000,
        max_registry_places: 3,
        ..Rules::default()
    });
    let (schema, definition) = (issuer.published.schema(), issuer.published.definition());
    issuer.act(vec![schema]).unwrap();
    assert_eq!(issuer.act(vec![definition]), object(ObjectFault::TooLarge));

    let mut issuer = Issuer::with_rules(Rules {
        max_registry_places: 3,
        ..Rules::default()
    });
    let all = issuer.published.all();
    assert_eq!(issuer.act(all), object(ObjectFault::TooManyPlaces));
}

#[test]
fn entries_follow_each_other_and_the_list_of_any_time_is_found() {
    let mut issuer = Issuer::with_all();
    let id = issuer.published.registry_id();
    let start = issuer.world.time;
    let revoked = |issuer: &Issuer, at| {
        let (machine, state) = (&issuer.world.machine, &issuer.world.state);
        machine.revoked(state, &id, at).unwrap()
    };
    assert_eq!(revoked(&issuer, None), None);
    let mut expected = Vec::new();
    let entries = [
        (issuer.published.first_entry(), 0b0000_0000),
        (issuer.published.entry(0, &[], &[0, 3]), 0b1001_0000),
        (issuer.published.entry(1, &[3], &[1]), 0b1100_0000),
        (issuer.published.entry(2, &[0, 1], &[]), 0b0000_0000),
    ];
    for (entry, bits) in entries {
        issuer.world.time = issuer.world.time.plus(100);
        let after = entry.after.clone();
        let receipt = issuer.enter(entry).unwrap();
        expected.push((bits, after, receipt));
        // Later entries do not change the list of an earlier time.
        for (n, (bits, after, receipt)) in expected.iter().enumerate() {
            let at = start.plus((n as u64 + 1) * 100);
            let list = revoked(&issuer, Some(at)).unwrap();
            assert_eq!(
                (list.revoked[0], &list.accumulator, &list.receipt),
                (*bits, after, receipt)
            );
            assert_eq!(list.version, n as u64 + 1);
            let later = revoked(&issuer, Some(at.plus(99))).unwrap();
            assert_eq!(later, list);
        }
        let (bits, ..) = expected[expected.len() - 1];
        assert_eq!(revoked(&issuer, None).unwrap().revoked[0], bits);
    }
    assert_eq!(revoked(&issuer, Some(start)), None);
    let (machine, state) = (&issuer.world.machine, &issuer.world.state);
    let entries = machine.revocation_entries(state, &id, 2).unwrap();
    assert_eq!(entries[0].revoked, [1]);
    assert_eq!(entries[1].issued, [0, 1]);
}

#[test]
fn an_entry_that_does_not_follow_is_refused() {
    let mut issuer = Issuer::with_all();
    let refused = |fault| Err(Refusal::Entry(fault));
    let first = issuer.published.first_entry();
    let follows_nothing = issuer.published.entry(0, &[], &[1]);
    assert_eq!(
        issuer.enter(follows_nothing.clone()),
        refused(EntryFault::Before)
    );
    issuer.enter(first.clone()).unwrap();
    assert_eq!(issuer.enter(first), refused(EntryFault::Before));
    issuer.enter(follows_nothing).unwrap();
    for (issued, revoked, fault) in [
        (&[][..], &[1][..], EntryFault::Unchanged),
        (&[2], &[], EntryFault::Unchanged),
        (&[], &[3, 2], EntryFault::Order),
        (&[], &[2, 2], EntryFault::Order),
        (&[1], &[1], EntryFault::Order),
        (&[], &[1_000_000], EntryFault::Place),
    ] {
        let entry = issuer.published.entry(1, issued, revoked);
        assert_eq!(
            issuer.enter(entry),
            refused(fault),
            "{issued:?} {revoked:?}"
        );
    }
    let no_point = RevocationEntry {
        after: "1 2 3".to_owned(),
        ..issuer.published.entry(1, &[], &[2])
    };
    assert_eq!(issuer.enter(no_point), refused(EntryFault::Accumulator));
    let good = issuer.published.entry(1, &[], &[2]);
    assert!(issuer.enter(good).is_ok());
}

#[test]
fn only_the_owner_changes_what_his_registry_revokes() {
    let mut issuer = Issuer::with_all();
    let mut other = issuer.world.registered(KeyType::Ed25519);
    let entry = Operation::RevocationEntry(issuer.published.first_entry());
    assert_eq!(
        issuer.world.act(&mut other, vec![entry]),
        Err(Refusal::NotAllowed {
            act: Act::ChangeRegistry
        })
    );
}

/// A stricter parser may one day refuse an accepted object; the example here is a repeated member.
#[test]
fn objects_that_were_accepted_stay_good_for_later_ones_though_they_would_be_refused_now() {
    let mut issuer = Issuer::new();
    let [schema, definition, registry] =
        <[Operation; 3]>::try_from(issuer.published.all()).unwrap();
    let refused_now = |json: &str| json.replacen('{', "{\"name\":\"x\",\"name\":\"y\",", 1);
    issuer.act(vec![schema]).unwrap();
    let twice = |id: &str, issuer: &mut Issuer, change: &dyn Fn(&[u8]) -> Vec<u8>| {
        let (did, path) = id.split_once("/anoncreds/v0/").unwrap();
        let id = did.rsplit(':').next().unwrap();
        let key = format!("anoncreds/{id}/{path}").into_bytes();
        let bytes = change(&issuer.world.state[&key]);
        issuer.world.state.insert(key, bytes);
    };
    let id = issuer.published.schema_id();
    twice(&id, &mut issuer, &|bytes| {
        let mut published = PublishedSchema::from_cbor(bytes).unwrap();
        published.json = refused_now(&published.json);
        published.to_cbor()
    });
    let again = issuer
        .world
        .machine
        .schema(&issuer.world.state, &id)
        .unwrap();
    let json = again.unwrap().json;
    assert_eq!(
        issuer.act(vec![Operation::Schema { json: json.clone() }]),
        object(ObjectFault::Json {
            what: "the schema",
            why: "an object names a member twice"
        })
    );
    issuer.act(vec![definition]).unwrap();
    let id = issuer.published.definition_id();
    twice(&id, &mut issuer, &|bytes| {
        let mut published = PublishedDefinition::from_cbor(bytes).unwrap();
        published.definition.json = refused_now(&published.definition.json);
        published.to_cbor()
    });
    issuer.act(vec![registry]).unwrap();
}
