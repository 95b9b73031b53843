//! Every change of validators that the machine accepts, the engine accepts too.

mod engine;

use proptest::prelude::*;
use proptest::sample::subsequence;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_proof::validators::{MAX_POWER, Validator};
use selfsame_registry::network::{Member, Role};
use selfsame_registry::transaction::Body;
use selfsame_registry::{
    Block, Genesis, Head, Identifier, Operation, Rules, StateMachine, Transaction,
    UnsignedTransaction, Writes,
};

use super::*;

const BEGAN: UnixTime = UnixTime(1_750_000_000);
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// Few keys, so that changes collide.
const KEYS: usize = 6;

fn key() -> PublicKey {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    key.public().clone()
}

fn validator(name: &str, power: u64) -> Validator {
    Validator {
        name: name.to_owned(),
        key: key(),
        power,
        consensus: Some(key()),
    }
}

fn set(of: &[Validator]) -> ValidatorSet {
    ValidatorSet::new(of.to_vec()).unwrap()
}

fn told(before: &[Validator], after: &[Validator]) -> BTreeMap<Vec<u8>, u64> {
    let updates = updates(&set(before), &set(after)).unwrap().into_iter();
    updates
        .map(|update| (update.pub_key.to_bytes(), update.power.value()))
        .collect()
}

#[test]
fn the_engine_is_told_who_comes_who_goes_and_whose_power_changes() {
    let (stays, goes, comes) = (validator("a", 10), validator("b", 10), validator("c", 5));
    let mut mightier = stays.clone();
    mightier.power = 11;
    let key = |of: &Validator| of.consensus.as_ref().unwrap().bytes().to_vec();
    let before = [stays.clone(), goes.clone()];
    assert!(told(&before, &before).is_empty());
    assert_eq!(
        told(&before, &[stays.clone(), comes.clone()]),
        BTreeMap::from([(key(&goes), 0), (key(&comes), 5)])
    );
    assert_eq!(
        told(&before, &[mightier, goes]),
        BTreeMap::from([(key(&stays), 11)])
    );
}

#[test]
fn what_the_engine_would_not_take_is_found_before_it_is_asked() {
    let (one, two) = (validator("a", 10), validator("b", 10));
    let both = set(&[one.clone(), two.clone()]);
    let of = |validator: &Validator, power| {
        let key = validator.consensus.as_ref().unwrap();
        update(key.bytes(), power).unwrap()
    };
    let stranger = validator("c", 1);
    let takes = |updates: &[Update]| engine_takes(&both, updates).map_err(|Halt(why)| why);
    assert_eq!(takes(&[]), Ok(()));
    assert_eq!(takes(&[of(&one, 0), of(&stranger, 7)]), Ok(()));
    assert_eq!(takes(&[of(&one, MAX_TOTAL_POWER - 10)]), Ok(()));
    // Removed power makes room for new power.
    let most = [of(&one, 0), of(&stranger, MAX_TOTAL_POWER - 10)];
    assert_eq!(takes(&most), Ok(()));
    for (updates, why) in [
        (vec![of(&one, 0), of(&two, 0)], "no validator remains"),
        (vec![of(&one, 3), of(&one, 4)], "named twice"),
        (vec![of(&stranger, 0)], "is not a validator's"),
        (
            vec![of(&one, MAX_TOTAL_POWER + 1)],
            "than the maximum for all",
        ),
        (
            vec![of(&one, MAX_TOTAL_POWER)],
            "the total power is too large",
        ),
        (
            vec![of(&stranger, MAX_TOTAL_POWER - 19)],
            "the total power is too large",
        ),
    ] {
        let refused = takes(&updates).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

/// A change as a client may send it: indexes of names, with indexes of keys.
#[derive(Clone, Debug)]
struct Change {
    add: Vec<(usize, usize, usize, u64)>,
    /// Whether the added validators take part in the engine.
    inside: bool,
    /// Whether all current validators are removed, rather than those listed.
    all: bool,
    remove: Vec<usize>,
}

fn changes() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let power =
        prop_oneof![3 => 1..4_u64, 1 => Just(0), 1 => Just(MAX_POWER), 1 => Just(MAX_POWER + 1)];
    let added = (0..NAMES.len(), 0..KEYS, 0..KEYS, power);
    let names = subsequence((0..NAMES.len()).collect::<Vec<_>>(), 0..=2);
    let all = prop::collection::vec(added, 1..4);
    let change = (all, any::<bool>(), any::<bool>(), names);
    let change = change.prop_map(|(add, inside, all, remove)| Change {
        add,
        inside,
        all,
        remove,
    });
    // Blocks of several changes; each change is judged after those before it.
    prop::collection::vec(prop::collection::vec(change, 1..3), 1..12)
}

/// A network of two validators, and the trustee that changes them.
struct World {
    machine: StateMachine,
    trustee: PrivateKey,
    keys: Vec<[PublicKey; 2]>,
    nonce: u64,
}

impl World {
    fn new() -> Self {
        let trustee = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let keys: Vec<[PublicKey; 2]> = (0..KEYS).map(|_| [key(), key()]).collect();
        let first = |n: usize| Validator {
            name: NAMES[n].to_owned(),
            key: keys[n][0].clone(),
            power: 1,
            consensus: Some(keys[n][1].clone()),
        };
        let genesis = Genesis::new("test", BEGAN, set(&[first(0), first(1)]), Rules::default());
        let member = Member {
            key: trustee.public().clone(),
            role: Role::Trustee,
        };
        let genesis = genesis.unwrap().with_members(vec![member]).unwrap();
        Self {
            machine: StateMachine::new(genesis),
            trustee,
            keys,
            nonce: 0,
        }
    }

    fn transaction(&mut self, change: &Change, now: &ValidatorSet) -> Option<Transaction> {
        let validator = |(name, key, engine, power): &(usize, usize, usize, u64)| Validator {
            name: NAMES[*name].to_owned(),
            key: self.keys[*key][0].clone(),
            power: *power,
            consensus: change.inside.then(|| self.keys[*engine][1].clone()),
        };
        let named = change.remove.iter().map(|n| NAMES[*n].to_owned());
        let all = now.validators().iter().map(|one| one.name.clone());
        let operation = Operation::ChangeValidators {
            add: change.add.iter().map(validator).collect(),
            remove: match change.all {
                true => all.collect(),
                false => named.collect(),
            },
        };
        self.nonce += 1;
        let id = Identifier::of_key(self.trustee.public()).unwrap();
        let network = self.machine.network();
        let body = Body::new(network, id, self.nonce, vec![operation]);
        let unsigned = UnsignedTransaction::of(body);
        let signature = self.trustee.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed("key-1", &signature).ok()
    }
}

/// Applies the blocks, and calls `show` for each change of the validators that the machine accepted.
fn accepted(blocks: Vec<Vec<Change>>, mut show: impl FnMut(&ValidatorSet, &ValidatorSet)) {
    let mut world = World::new();
    let mut head = Head::of_genesis(world.machine.genesis());
    let (mut state, mut nodes) = (Writes::new(), Writes::new());
    let mut before = world.machine.genesis().validators().clone();
    for block in blocks {
        let read = block
            .iter()
            .filter_map(|change| world.transaction(change, &before));
        let transactions: Vec<Transaction> = read.collect();
        let block = Block {
            time: BEGAN,
            transactions: &transactions,
        };
        let applied = world.machine.apply(&head, &block, &state, &nodes).unwrap();
        if let Some(after) = changed(&applied).unwrap() {
            show(&before, &after);
            before = after;
        }
        state.extend(applied.objects);
        state.extend(applied.marks);
        nodes.extend(applied.tree.nodes);
        head = applied.head;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_change_of_validators_the_machine_accepts_the_engine_takes(blocks in changes()) {
        accepted(blocks, |before, after| {
            let updates = updates(before, after).unwrap();
            let taken = engine_takes(before, &updates).map_err(|Halt(why)| why);
            assert_eq!(taken, Ok(()));
        });
    }
}
