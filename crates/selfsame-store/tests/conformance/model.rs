//! Random sequences of batches, compared with a model simple enough to be correct by inspection.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use selfsame_crypto::time::UnixTime;
use selfsame_store::{Batch, Expect, Page, Put, Record, Store, StoreError, Tag};

use super::ground::{Ground, read_as, tenant};

const KIND: &str = "thing";
const TENANTS: [&str; 2] = ["anna", "ben"];

#[derive(Clone, Debug)]
enum Action {
    Put {
        value: u8,
        tag: u8,
        lives: Option<u64>,
    },
    PutIfAbsent {
        value: u8,
        tag: u8,
    },
    Update {
        value: u8,
    },
    UpdateStale,
    Delete,
}

#[derive(Clone, Debug)]
enum Move {
    Commit {
        actions: BTreeMap<(usize, u8), Action>,
        deferred: bool,
    },
    Wait(u64),
    Purge,
    /// All records of a tenant are erased.
    Erase(usize),
    Reopen,
}

#[derive(Clone, Debug)]
struct Kept {
    order: u64,
    value: u8,
    tag: u8,
    version: u64,
    expires: Option<u64>,
}

type Model = BTreeMap<(usize, u8), Kept>;

fn actions() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (any::<u8>(), 0..3_u8, proptest::option::of(1..8_u64)).prop_map(|(value, tag, lives)| Action::Put { value, tag, lives }),
        2 => (any::<u8>(), 0..3_u8).prop_map(|(value, tag)| Action::PutIfAbsent { value, tag }),
        3 => any::<u8>().prop_map(|value| Action::Update { value }),
        1 => Just(Action::UpdateStale),
        2 => Just(Action::Delete),
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    let commit = (
        btree_map((0..2_usize, 0..6_u8), actions(), 1..4),
        any::<bool>(),
    );
    prop_oneof![
        10 => commit.prop_map(|(actions, deferred)| Move::Commit { actions, deferred }),
        2 => (1..4_u64).prop_map(Move::Wait),
        1 => Just(Move::Purge),
        1 => (0..2_usize).prop_map(Move::Erase),
        1 => Just(Move::Reopen),
    ]
}

pub async fn any_sequence_of_batches_does_what_the_model_does(ground: Ground) {
    let runtime = tokio::runtime::Handle::current();
    let run = move || {
        let mut runner = TestRunner::new(Config {
            cases: 48,
            failure_persistence: None,
            ..Config::default()
        });
        let outcome = runner.run(&vec(moves(), 1..40), |moves| {
            runtime.block_on(play(ground.another(), moves));
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

/// A store, and the model's state.
struct Game {
    ground: Ground,
    store: Store,
    model: Model,
    order: u64,
    /// The events told.
    told: Vec<String>,
}

/// A batch for the store and the model.
struct Turn {
    batch: Batch,
    after: Model,
    holds: bool,
    written: Vec<(usize, u8)>,
}

async fn play(ground: Ground, moves: Vec<Move>) {
    let store = ground.store().await;
    let mut game = Game {
        ground,
        store,
        model: Model::new(),
        order: 0,
        told: Vec::new(),
    };
    for step in moves {
        match step {
            Move::Commit { actions, deferred } => game.commit(actions, deferred).await,
            Move::Wait(seconds) => game.ground.wait(seconds),
            Move::Purge => {
                game.store
                    .purge_expired(game.ground.now(), 100)
                    .await
                    .unwrap();
            }
            Move::Erase(owner) => {
                let tenant = tenant(TENANTS[owner]);
                while game.store.erase(&tenant, &[], 2).await.unwrap() > 0 {}
                game.model.retain(|(of, _), _| *of != owner);
            }
            Move::Reopen => {
                let Game {
                    ground,
                    store,
                    model,
                    order,
                    told,
                } = game;
                drop(store);
                let store = ground.store().await;
                game = Game {
                    ground,
                    store,
                    model,
                    order,
                    told,
                };
            }
        }
        let now = game.ground.now().0;
        game.model
            .retain(|_, kept| kept.expires.is_none_or(|at| at > now));
        compare(&game.store, &game.model).await;
        let events = game.store.events_after(None, 100).await.unwrap().unwrap();
        let told = events.iter().map(|event| &event.place.id);
        assert!(told.eq(&game.told), "{events:?}");
    }
}

impl Game {
    async fn commit(&mut self, actions: BTreeMap<(usize, u8), Action>, deferred: bool) {
        let batch = Batch::new(tenant(TENANTS[0]));
        let mut turn = Turn {
            batch,
            after: self.model.clone(),
            holds: true,
            written: Vec::new(),
        };
        for (place, action) in actions {
            turn = self.act(turn, place, action);
        }
        let batch = if deferred {
            turn.batch.deferred()
        } else {
            turn.batch
        };
        let order = self.order.to_string();
        match self.store.commit(batch.event("committed", &order)).await {
            Ok(committed) => {
                self.told.push(order);
                assert!(turn.holds, "written although an expectation fails");
                assert_eq!(committed.versions.len(), turn.written.len());
                for (place, version) in turn.written.iter().zip(committed.versions) {
                    turn.after.get_mut(place).unwrap().version = version;
                }
                self.model = turn.after;
            }
            Err(StoreError::Conflict { .. }) => assert!(!turn.holds, "refused although all holds"),
            Err(error) => panic!("{error}"),
        }
    }

    fn act(&mut self, mut turn: Turn, place: (usize, u8), action: Action) -> Turn {
        let (known, name) = (self.model.get(&place).cloned(), place.1.to_string());
        let batch = turn.batch.for_tenant(tenant(TENANTS[place.0]));
        let version = known.as_ref().map_or(7, |known| known.version);
        turn.batch = match &action {
            Action::Put { value, tag, lives } => {
                let expires = lives.map(|lives| self.ground.now().0 + lives);
                batch.put(put(&name, *value, *tag, expires))
            }
            Action::PutIfAbsent { value, tag } => {
                turn.holds &= known.is_none();
                batch
                    .expect(KIND, &name, Expect::Absent)
                    .put(put(&name, *value, *tag, None))
            }
            Action::Update { value } => {
                turn.holds &= known.is_some();
                batch.update(KIND, &read_as(&name, version), vec![*value])
            }
            Action::UpdateStale => {
                turn.holds = false;
                batch.update(KIND, &read_as(&name, version ^ 1), vec![])
            }
            Action::Delete => batch.delete(KIND, &name),
        };
        match self.kept(known, &action) {
            Some(kept) => {
                turn.written.push(place);
                turn.after.insert(place, kept);
            }
            None => drop(turn.after.remove(&place)),
        }
        turn
    }

    /// The content of the place after the action.
    fn kept(&mut self, known: Option<Kept>, action: &Action) -> Option<Kept> {
        self.order += 1;
        let order = known.as_ref().map_or(self.order, |known| known.order);
        let (value, tag, expires) = match *action {
            Action::Put { value, tag, lives } => {
                (value, tag, lives.map(|lives| self.ground.now().0 + lives))
            }
            Action::PutIfAbsent { value, tag } => (value, tag, None),
            Action::Update { value } => {
                known.map_or((value, 0, None), |known| (value, known.tag, known.expires))
            }
            Action::UpdateStale | Action::Delete => return None,
        };
        Some(Kept {
            order,
            value,
            tag,
            version: 0,
            expires,
        })
    }
}

fn put(id: &str, value: u8, tag: u8, expires: Option<u64>) -> Put {
    let put = Put::new(KIND, id, vec![value]).tag(Tag::hashed("tag", tag.to_string()));
    expires.map_or(put.clone(), |at| put.expires(UnixTime(at)))
}

async fn compare(store: &Store, model: &Model) {
    for (owner, name) in TENANTS.iter().enumerate() {
        let tenant = tenant(name);
        let shown = |record: &Record| {
            (
                record.id.clone(),
                record.value.clone(),
                record.version,
                record.expires.map(|at| at.0),
            )
        };
        let expected = |wanted: Option<u8>| {
            let mut kept: Vec<_> = model
                .iter()
                .filter(|((of, _), kept)| *of == owner && wanted.is_none_or(|tag| kept.tag == tag))
                .collect();
            kept.sort_by_key(|(_, kept)| kept.order);
            kept.into_iter()
                .map(|((_, id), kept)| {
                    (id.to_string(), vec![kept.value], kept.version, kept.expires)
                })
                .collect::<Vec<_>>()
        };
        let listed = store.list(&tenant, KIND, &Page::first(100)).await.unwrap();
        assert_eq!(listed.iter().map(shown).collect::<Vec<_>>(), expected(None));
        for tag in 0..3 {
            let found = store
                .find(
                    &tenant,
                    KIND,
                    &Tag::hashed("tag", tag.to_string()),
                    &Page::first(20),
                )
                .await
                .unwrap();
            assert_eq!(
                found.iter().map(shown).collect::<Vec<_>>(),
                expected(Some(tag))
            );
        }
    }
}
