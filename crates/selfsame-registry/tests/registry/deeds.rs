//! Arbitrary operations of members and others on a governed network, with numbers small enough to collide.

use proptest::prelude::*;
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_registry::network::{Mode, Role};
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::{Content, Identifier, Operation, Rules, Transaction};

use crate::agreement::agreement;
use crate::anoncreds::Published;
use crate::world::{Actor, START, World, validator};

/// Number of operation kinds.
pub const KINDS: u8 = 17;

/// An operation given by numbers: its kind as encoded, starting with 1, and two arguments.
#[derive(Clone, Debug)]
pub struct Deed {
    kind: u8,
    a: u8,
    b: u8,
}

/// A sequence of transactions: the index of the actor, and the operations.
pub type Deeds = Vec<(usize, Vec<Deed>)>;

pub fn deeds() -> impl Strategy<Value = Deeds> {
    let deed = (1..=KINDS, 0..6_u8, 0..4_u8).prop_map(|(kind, a, b)| Deed { kind, a, b });
    let batch = prop::collection::vec(deed, 1..4);
    prop::collection::vec((0..6_usize, batch), 1..40)
}

/// The network and its actors: three members, two others and one that is not registered.
pub struct Stage {
    pub world: World,
    pub actors: Vec<Actor>,
    /// The height from which changed rules apply.
    pub rules_from: u64,
}

/// The parts that operations are made of.
struct Props {
    ids: Vec<Identifier>,
    contents: Vec<Content>,
    keys: Vec<PublicKey>,
    published: Vec<Published>,
    rules_from: u64,
}

impl Stage {
    pub fn set() -> Self {
        let (mut world, members) = World::governed(Mode::Open);
        let mut actors: Vec<Actor> = members.into_iter().collect();
        for _ in 0..2 {
            actors.push(world.registered(KeyType::P256));
        }
        actors.push(Actor::new(KeyType::Ed25519));
        Self {
            world,
            actors,
            rules_from: 2,
        }
    }

    pub fn transactions(&mut self, deeds: &Deeds) -> Vec<Transaction> {
        let network = self.world.network().clone();
        let props = self.props();
        let transaction = |(who, batch): &(usize, Vec<Deed>)| {
            let operations = batch.iter().map(|deed| props.operation(deed, *who));
            let operations = operations.collect();
            let actor = &mut self.actors[*who];
            let body = actor.body(&network, operations);
            actor.transaction(body, None)
        };
        deeds.iter().map(transaction).collect()
    }

    fn props(&self) -> Props {
        let actors = self.actors.iter();
        let published = |actor: &Actor| Published::by(actor.id, &self.world);
        Props {
            ids: actors.clone().map(|actor| actor.id).collect(),
            contents: actors.clone().map(Actor::content).collect(),
            keys: actors
                .clone()
                .map(|actor| actor.key.public().clone())
                .collect(),
            published: actors.map(published).collect(),
            rules_from: self.rules_from,
        }
    }
}

impl Props {
    fn operation(&self, deed: &Deed, who: usize) -> Operation {
        let (a, b) = (usize::from(deed.a), usize::from(deed.b));
        let (ids, name) = (&self.ids, format!("d{b}"));
        let action = [Action::Consume, Action::Revoke][b / 2];
        let issuer = if b == 3 { a } else { who };
        let published = &self.published[issuer];
        match deed.kind {
            1 => Operation::CreateDid(self.contents[who].clone()),
            2 => Operation::UpdateDid {
                version: u64::from(deed.b) + 1,
                content: self.contents[who].clone(),
            },
            3 => Operation::DeactivateDid {
                version: u64::from(deed.b) + 1,
            },
            4 => Operation::AnchorStatus {
                list: format!("a:{b}"),
                digest: [deed.a; 32],
                issued: START.plus(u64::from(deed.a)),
            },
            5 => Operation::RegisterDid {
                subject: ids[a],
                key: self.keys[if b == 3 { who } else { a }].clone(),
                consent: None,
            },
            7 => published.schema(),
            8 => published.definition(),
            9 => published.registry(),
            10 if deed.a == 0 => Operation::RevocationEntry(published.first_entry()),
            10 => {
                let entry = published.entry(b % 3, &[], &[u32::from(deed.a)]);
                Operation::RevocationEntry(entry)
            }
            11 => Operation::Resource(Resource {
                id: ResourceId([deed.a * 4 + deed.b; 16]),
                name,
                kind: "t".to_owned(),
                version: None,
                media_type: "text/plain".to_owned(),
                also_known_as: Vec::new(),
                data: ResourceData::Digest([deed.a; 32]),
            }),
            12 => Operation::Delegate(Delegation {
                name,
                to: ids[a],
                scope: vec!["T".to_owned()],
                action,
                until: START.plus(10),
            }),
            13 => Operation::WithdrawDelegation { name },
            14 => Operation::Consume(Consume {
                issuer: ids[a],
                kind: "T".to_owned(),
                handle: [deed.b; 32],
                action,
                delegation: (ids[a] != ids[who]).then_some(name),
            }),
            _ => self.governing(deed),
        }
    }

    fn governing(&self, deed: &Deed) -> Operation {
        let (a, b) = (deed.a, deed.b);
        let roles = [Role::Trustee, Role::Steward, Role::Endorser];
        match deed.kind {
            6 => Operation::SetRole {
                subject: self.ids[usize::from(a)],
                role: usize::from(b).checked_sub(1).map(|role| roles[role]),
            },
            15 => Operation::SetAgreement((b > 2).then(|| agreement("1"))),
            16 => Operation::ChangeValidators {
                add: vec![validator(&format!("v{b}"), u64::from(b))],
                remove: match a {
                    4.. => vec![format!("v{}", a - 4)],
                    _ => vec![],
                },
            },
            _ => Operation::ChangeRules {
                from_height: u64::from(a) + self.rules_from,
                rules: Rules {
                    mode: match b {
                        2.. => Mode::Endorsed,
                        _ => Mode::Open,
                    },
                    ..Rules::default()
                },
            },
        }
    }
}

#[test]
fn there_is_a_deed_for_each_kind_of_operation() {
    use selfsame_proof::cbor::CborItem as _;
    let props = Stage::set().props();
    for kind in 1..=KINDS {
        let operation = props.operation(&Deed { kind, a: 1, b: 1 }, 0);
        assert_eq!(operation.to_cbor()[1], kind);
    }
}
