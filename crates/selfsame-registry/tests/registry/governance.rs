//! Tests of validators and rules.

use selfsame_crypto::KeyType;
use selfsame_proof::cbor::Malformed;
use selfsame_proof::validators::{STATE_KEY, Validator, ValidatorSet};
use selfsame_registry::network::{Act, Member, Mode, Role};
use selfsame_registry::refusal::{CheckError, GovernanceFault, ReadError};
use selfsame_registry::{Block, Genesis, Operation, Refusal, Rules, StateRead, Transaction};

use crate::world::{Actor, Answer, START, World, no_point, validator};

fn change(add: &[Validator], remove: &[&str]) -> Vec<Operation> {
    vec![Operation::ChangeValidators {
        add: add.to_vec(),
        remove: remove.iter().map(|name| (*name).to_owned()).collect(),
    }]
}

fn refused(fault: GovernanceFault) -> Answer {
    Err(Refusal::Governance(fault))
}

fn names(world: &World) -> Vec<String> {
    let set = world.machine.validators(&world.state).unwrap();
    let names = set.validators().iter();
    names.map(|validator| validator.name.clone()).collect()
}

#[test]
fn a_trustee_adds_replaces_and_removes_validators_and_the_state_holds_the_set() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Endorsed);
    assert_eq!(names(&world), ["one"]);
    let first = world.time;
    world.time = world.time.plus(10);
    let new = [validator("two", 5), validator("three", 1)];
    world.act(&mut trustee, change(&new, &[])).unwrap();
    assert_eq!(names(&world), ["one", "three", "two"]);
    let replacement = validator("two", 7);
    world.time = world.time.plus(10);
    let replace = change(std::slice::from_ref(&replacement), &["two", "one"]);
    world.act(&mut trustee, replace).unwrap();
    assert_eq!(names(&world), ["three", "two"]);
    // Clients verify proofs of exactly this object.
    let bytes = StateRead::get(&world.state, STATE_KEY).unwrap().unwrap();
    let set = ValidatorSet::from_bytes(&bytes).unwrap();
    assert!(set.validators().contains(&replacement));
    let changes = world.machine.validator_changes(&world.state, 9).unwrap();
    assert_eq!(changes.len(), 3);
    assert_eq!(changes[2].set, set);
    for (seconds, count) in [(0, 1), (9, 1), (10, 3), (20, 2)] {
        let at = first.plus(seconds);
        let then = world.machine.validators_at(&world.state, at).unwrap();
        assert_eq!(then.unwrap().set.validators().len(), count);
    }
}

#[test]
fn validators_no_network_can_have_are_refused() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let one = world.machine.validators(&world.state).unwrap();
    let same_key = Validator {
        name: "two".to_owned(),
        ..one.validators()[0].clone()
    };
    for operations in [
        change(&[], &["one"]),
        change(&[validator("one", 1)], &[]),
        change(&[validator("a/b", 1)], &[]),
        change(&[validator("two", 0)], &[]),
        change(&[same_key], &[]),
        change(
            &(0..100)
                .map(|n| validator(&n.to_string(), 1))
                .collect::<Vec<_>>(),
            &[],
        ),
    ] {
        let answer = world.act(&mut trustee, operations);
        assert!(
            matches!(
                answer,
                Err(Refusal::Governance(GovernanceFault::Validators(_)))
            ),
            "{answer:?}"
        );
    }
    for powerless in [
        Validator {
            key: no_point(),
            ..validator("two", 1)
        },
        Validator {
            consensus: Some(no_point()),
            ..validator("two", 1)
        },
    ] {
        let why = "a validator's keys are points of Ed25519";
        assert_eq!(
            world.act(&mut trustee, change(&[powerless], &[])),
            refused(GovernanceFault::Validators(why))
        );
    }
    let outside = Validator {
        consensus: None,
        ..validator("two", 1)
    };
    assert_eq!(
        world.act(&mut trustee, change(&[outside], &[])),
        refused(GovernanceFault::Engine)
    );
    assert_eq!(
        world.act(&mut trustee, change(&[], &["two"])),
        refused(GovernanceFault::UnknownValidator)
    );
    assert_eq!(
        world.act(&mut trustee, change(&[], &[])),
        refused(GovernanceFault::Unchanged)
    );
    assert_eq!(names(&world), ["one"]);
}

#[test]
fn validators_of_an_engine_are_not_all_replaced_by_validators_outside_of_it() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let outside = Validator {
        consensus: None,
        ..validator("two", 10)
    };
    assert_eq!(
        world.act(&mut trustee, change(&[outside], &["one"])),
        refused(GovernanceFault::EngineLeft)
    );
    assert_eq!(names(&world), ["one"]);
    // By validators of the engine, all may be replaced at once.
    let inside = change(&[validator("two", 10)], &["one"]);
    world.act(&mut trustee, inside).unwrap();
    assert_eq!(names(&world), ["two"]);
}

#[test]
fn validators_outside_of_an_engine_may_hand_over_to_validators_of_one() {
    let outside = Validator {
        consensus: None,
        ..validator("embedded", 1)
    };
    let set = ValidatorSet::new(vec![outside]).unwrap();
    let mut trustee = Actor::new(KeyType::Ed25519);
    let member = Member {
        key: trustee.key.public().clone(),
        role: Role::Trustee,
    };
    let genesis = Genesis::new("main", START, set, Rules::default()).unwrap();
    let mut world = World::of(genesis.with_members(vec![member]).unwrap());
    let over = change(&[validator("one", 1), validator("two", 1)], &["embedded"]);
    world.act(&mut trustee, over).unwrap();
    assert_eq!(names(&world), ["one", "two"]);
}

#[test]
fn the_heights_at_which_validators_changed_are_found_from_any_height_on() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let mut heights = Vec::new();
    for n in 0..7 {
        let add = change(&[validator(&format!("v{n}"), 1)], &[]);
        heights.push(world.act(&mut trustee, add).unwrap().height);
    }
    let at = |first, end, most| {
        let found = world
            .machine
            .validators_changed_at(&world.state, first..end, most);
        found.unwrap()
    };
    // The validators of the genesis have no transaction.
    assert_eq!(at(0, u64::MAX, 64), heights);
    assert_eq!(at(0, u64::MAX, 3), heights[..3]);
    assert_eq!(at(heights[2], u64::MAX, 3), heights[2..5]);
    assert_eq!(at(heights[2] + 1, heights[5], 64), heights[3..5]);
    assert_eq!(at(heights[6] + 1, u64::MAX, 64), Vec::<u64>::new());
}

#[test]
fn a_network_begins_with_all_validators_in_an_engine_or_with_none() {
    let outside = |name: &str| Validator {
        consensus: None,
        ..validator(name, 1)
    };
    let begins = |validators: [Validator; 2]| {
        let set = ValidatorSet::new(validators.to_vec()).unwrap();
        Genesis::new("main", START, set, Rules::default()).is_ok()
    };
    assert!(begins([validator("one", 1), validator("two", 1)]));
    assert!(begins([outside("one"), outside("two")]));
    assert!(!begins([validator("one", 1), outside("two")]));
}

#[test]
fn a_steward_runs_one_validator_no_mightier_than_the_others() {
    let (mut world, [mut trustee, mut steward, _]) = World::governed(Mode::Open);
    let own = validator("own", 1);
    assert_eq!(
        world.act(&mut steward, change(&[validator("own", 2)], &[])),
        refused(GovernanceFault::Power)
    );
    world
        .act(&mut steward, change(std::slice::from_ref(&own), &[]))
        .unwrap();
    let owner = world.machine.validator_owner(&world.state, "own");
    assert_eq!(owner, Ok(Some(steward.id)));
    assert_eq!(
        world.act(&mut steward, change(&[validator("second", 1)], &[])),
        refused(GovernanceFault::OneEach)
    );
    // A steward may not remove or replace the validators of others.
    for operations in [
        change(&[], &["one"]),
        change(&[validator("one", 1)], &["one"]),
    ] {
        assert_eq!(
            world.act(&mut steward, operations),
            Err(Refusal::NotAllowed {
                act: Act::RemoveValidator
            })
        );
    }
    // A steward may replace its own validator, for example to change its keys, and remove it.
    world
        .act(&mut steward, change(&[validator("own", 1)], &["own"]))
        .unwrap();
    world.act(&mut steward, change(&[], &["own"])).unwrap();
    assert_eq!(names(&world), ["one"]);
    world.act(&mut steward, change(&[own], &[])).unwrap();
    // A trustee removes it; then the steward may add another.
    world.act(&mut trustee, change(&[], &["own"])).unwrap();
    assert!(
        world
            .act(&mut steward, change(&[validator("again", 1)], &[]))
            .is_ok()
    );
}

#[test]
fn a_steward_cannot_replace_everybody_by_removing_first() {
    let (mut world, [_, mut steward, _]) = World::governed(Mode::Open);
    world
        .act(&mut steward, change(&[validator("own", 1)], &[]))
        .unwrap();
    let answer = world.act(&mut steward, change(&[validator("own", 9)], &["own"]));
    assert_eq!(answer, refused(GovernanceFault::Power));
}

fn strict() -> Rules {
    Rules {
        max_also_known_as: 0,
        ..Rules::default()
    }
}

fn change_rules(from_height: u64, rules: Rules) -> Vec<Operation> {
    vec![Operation::ChangeRules { from_height, rules }]
}

/// Whether a DID with an alias is refused in the next block.
fn is_strict(world: &mut World) -> bool {
    let mut actor = Actor::new(KeyType::Ed25519);
    let mut content = actor.content();
    content.also_known_as = vec!["a:b".to_owned()];
    let create = vec![Operation::CreateDid(content)];
    world.act(&mut actor, create).is_err()
}

#[test]
fn rules_change_at_the_height_the_transaction_says() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    world.act(&mut trustee, change_rules(4, strict())).unwrap();
    assert_eq!(world.head.height, 1);
    for (height, wanted) in [(2, false), (3, false), (4, true), (5, true)] {
        assert_eq!(is_strict(&mut world), wanted, "{height}");
        assert_eq!(world.head.height, height);
    }
    let rules = |height| world.machine.rules(&world.state, height).unwrap();
    assert_eq!(rules(3), Rules::default());
    assert_eq!(rules(4), strict());
}

#[test]
fn rules_change_in_the_future_only_and_a_later_change_takes_the_place_of_one_that_waits() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    for before in [0, 1, 2] {
        // The transaction's block will have the height after the head's.
        let from = world.head.height + 1 - before.min(world.head.height + 1);
        assert_eq!(
            world.act(&mut trustee, change_rules(from, strict())),
            refused(GovernanceFault::Height)
        );
    }
    world.act(&mut trustee, change_rules(10, strict())).unwrap();
    world
        .act(&mut trustee, change_rules(9, Rules::default()))
        .unwrap();
    let schedule = world.machine.schedule(&world.state).unwrap();
    let heights: Vec<u64> = schedule.iter().map(|(from, _)| *from).collect();
    assert_eq!(heights, [1, 9]);
    let brick = Rules {
        author_quota: 0,
        ..Rules::default()
    };
    // Rules that could never be changed again cannot even be encoded.
    let network = world.network().clone();
    let body = trustee.body(&network, change_rules(20, brick));
    let unsigned = selfsame_registry::UnsignedTransaction::of(body);
    assert!(unsigned.signed("key-1", &[0; 64]).is_err());
}

#[test]
fn so_many_changes_of_the_rules_wait_and_no_more() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    for n in 0..15 {
        world
            .act(&mut trustee, change_rules(100 + n, strict()))
            .unwrap();
    }
    assert_eq!(
        world.act(&mut trustee, change_rules(200, strict())),
        refused(GovernanceFault::TooManyChanges)
    );
}

#[test]
fn a_network_may_become_endorsed() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let endorsed = Rules {
        mode: Mode::Endorsed,
        ..Rules::default()
    };
    world.act(&mut trustee, change_rules(2, endorsed)).unwrap();
    let mut actor = Actor::new(KeyType::Ed25519);
    let create = vec![Operation::CreateDid(actor.content())];
    assert_eq!(
        world.act(&mut actor, create),
        Err(Refusal::NotAllowed {
            act: Act::CreateDid
        })
    );
}

#[test]
fn what_the_genesis_says_holds_before_the_first_block_and_is_written_by_it() {
    let (mut world, [trustee, ..]) = World::governed(Mode::Open);
    world.state.clear();
    let did = world.did(&trustee);
    let role = world.machine.role(&world.state, &did).unwrap();
    assert!(role.is_some());
    assert!(world.machine.present(&world.state, &did).unwrap().is_some());
    let applied = world.block(&[]);
    assert_eq!(&applied.objects, world.machine.first_objects());
    assert!(applied.marks.is_empty());
    assert!(world.block(&[]).objects.is_empty());
}

fn of_machine(machine_version: u64) -> Rules {
    Rules {
        machine_version,
        ..Rules::default()
    }
}

#[test]
fn a_network_goes_over_to_the_next_machine_and_never_back() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    world.machine = world.machine.clone().of_program(9);
    let to = |from, version| change_rules(from, of_machine(version));
    let refused_machine = refused(GovernanceFault::Machine);
    assert_eq!(world.act(&mut trustee, to(9, 3)), refused_machine);
    world.act(&mut trustee, to(10, 2)).unwrap();
    // The next machine must follow the scheduled one, not the one in force.
    world.act(&mut trustee, to(20, 3)).unwrap();
    assert_eq!(world.act(&mut trustee, to(30, 1)), refused_machine);
    assert_eq!(world.act(&mut trustee, to(9, 3)), refused_machine);
    world.act(&mut trustee, to(15, 1)).unwrap_err();
    let schedule = world.machine.schedule(&world.state).unwrap();
    let versions: Vec<_> = schedule
        .iter()
        .map(|(from, rules)| (*from, rules.machine_version))
        .collect();
    assert_eq!(versions, [(1, 1), (10, 2), (20, 3)]);
}

#[test]
fn programs_of_different_machines_agree_until_the_network_goes_over_and_the_older_says_why_it_stops()
 {
    let (mut newer, [mut trustee, ..]) = World::governed(Mode::Open);
    let mut older = World::of(newer.machine.genesis().clone());
    newer.machine = newer.machine.clone().of_program(2);
    let network = newer.network().clone();
    let create = Actor::new(KeyType::Ed25519).create(&network);
    newer.submit(create.clone()).unwrap();
    older.submit(create).unwrap();
    assert_eq!(newer.head.app_hash(), older.head.app_hash());

    let body = trustee.body(&network, change_rules(5, of_machine(2)));
    let over = trustee.transaction(body, None);
    // The older program never proposes it, and stops if other nodes decide it nevertheless.
    let unknown = Refusal::Governance(GovernanceFault::MachineUnknown);
    assert_eq!(older.machine.is_unready_for(&over), Some(unknown));
    assert_eq!(
        older
            .machine
            .check(&over, &older.head, older.time, &older.state),
        Err(CheckError::Refused(unknown))
    );
    let apply = |world: &World, transactions: &[Transaction]| {
        let block = Block {
            time: world.time,
            transactions,
        };
        let applied = world
            .machine
            .apply(&world.head, &block, &world.state, &world.nodes);
        applied
            .map(|applied| applied.logged)
            .map_err(|error| error.to_string())
    };
    let stops = apply(&older, std::slice::from_ref(&over)).unwrap_err();
    assert!(stops.contains("goes over to machine 2"), "{stops}");
    assert_eq!(newer.machine.is_unready_for(&over), None);
    newer.submit(over).unwrap();
    // An older program with this state cannot apply blocks from that height on.
    while newer.head.height < 4 {
        newer.block(&[]);
    }
    assert_eq!(apply(&newer, &[]), Ok(Vec::new()));
    newer.machine = newer.machine.clone().of_program(1);
    let stops = apply(&newer, &[]).unwrap_err();
    assert!(stops.contains("install a newer one"), "{stops}");
}

#[test]
fn an_operation_is_refused_before_the_machine_that_it_came_with() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let machine = world.machine.clone().of_program(2);
    world.machine = machine.with_operations_since(|operation| match operation {
        Operation::DeactivateDid { .. } => 2,
        _ => 1,
    });
    let mut owner = world.registered(KeyType::Ed25519);
    world
        .act(&mut trustee, change_rules(4, of_machine(2)))
        .unwrap();
    let network = world.network().clone();
    let end = owner.deactivate(&network, 2);
    let unknown = Refusal::Governance(GovernanceFault::OperationUnknown);
    let read = |world: &World| {
        let next = world.head.height + 1;
        world.machine.read(&end.to_bytes(), next, &world.state)
    };
    let refused = ReadError::Malformed(Malformed("an unknown operation"));
    assert_eq!(read(&world), Err(refused));
    assert_eq!(world.submit(end.clone()), Err(unknown));
    assert_eq!(read(&world), Ok(end.clone()));
    world.submit(end).unwrap();
}
