//! Results of machine 1 for a chain of all operations, accepted and refused. They must never change, since each new
//! node applies all blocks of its network again. A different result needs a new machine (docs/registry-objects.md), not
//! a new file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selfsame_crypto::KeyType;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_registry::anoncreds::RevocationEntry;
use selfsame_registry::network::{Acceptance, Mode, Role};
use selfsame_registry::refusal::CODES;
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::{Applied, Genesis, Identifier, Operation, Rules, Transaction};

use crate::agreement::agreement;
use crate::anoncreds::Published;
use crate::world::{Actor, World, validator};

const CHAIN: &str = "vectors/registry/machine-1.txt";
const HEADER: &str = "\
A network's genesis and its blocks, as machine 1 (docs/registry-objects.md) applies them: `block` with its time, `tx` with the
bytes of each transaction and `=` with its number in the log or why it is refused, `log`, `state` and `app` with the digests
after the block. Made by selfsame-registry of random keys (tests/registry/golden.rs), and never made again for this machine.
----
";

/// A file of the repository.
pub fn file(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

/// The result of a block in the format of the file.
fn told(applied: &Applied, transactions: &[Transaction], time: UnixTime) -> String {
    let mut told = format!("block {}\n", time.0);
    for (tx, result) in transactions.iter().zip(&applied.results) {
        writeln!(told, "tx {}", hex_encode(&tx.to_bytes())).unwrap();
        match result {
            Ok(receipt) => writeln!(told, "= {}", receipt.seq_no).unwrap(),
            Err(refusal) => writeln!(told, "= {}: {refusal}", refusal.code()).unwrap(),
        }
    }
    let digests = [
        ("log", applied.head.log.root()),
        ("state", applied.head.tree.hash),
        ("app", applied.head.app_hash()),
    ];
    for (name, digest) in digests {
        writeln!(told, "{name} {}", hex_encode(&digest)).unwrap();
    }
    told
}

/// Builds a chain of transactions.
pub struct Chain {
    pub world: World,
    pub made: String,
}

impl Chain {
    pub fn begin(world: World) -> Self {
        let genesis = hex_encode(&world.machine.genesis().to_bytes());
        let made = format!("{HEADER}genesis {genesis}\n");
        Self { world, made }
    }

    pub fn block(&mut self, transactions: &[Transaction]) {
        self.world.time = self.world.time.plus(10);
        let applied = self.world.block(transactions);
        self.made
            .push_str(&told(&applied, transactions, self.world.time));
    }

    pub fn signed(&self, actor: &mut Actor, operations: Vec<Operation>) -> Transaction {
        let body = actor.body(self.world.network(), operations);
        actor.transaction(body, None)
    }

    /// Puts an operation into one block twice; the second is nearly always refused.
    fn twice(&mut self, actor: &mut Actor, operation: Operation) {
        let both = [(); 2].map(|()| self.signed(actor, vec![operation.clone()]));
        self.block(&both);
    }

    fn identities(&mut self, [trustee, owner, other]: [&mut Actor; 3]) {
        let network = self.world.network().clone();
        let create = owner.create(&network);
        let forged = other.sign_with_nonce(&network, 1, Operation::CreateDid(owner.content()));
        let again = owner.create(&network);
        // The same transaction again, another one with its nonce, and one by an author that does not exist yet.
        let reused = owner.sign_with_nonce(&network, 1, Operation::DeactivateDid { version: 2 });
        let unknown = other.update(&network, 2, other.content());
        self.block(&[create.clone(), forged, again, create, reused, unknown]);
        let create = other.create(&network);
        self.block(&[create]);
        let rotated = owner.rotate(&network, 2);
        let skipped = owner.update(&network, 4, owner.content());
        let unsigned = other.sign_with_nonce(&network, 90, Operation::DeactivateDid { version: 9 });
        self.block(&[rotated, skipped, unsigned]);
        let [newcomer, indy] = [(); 2].map(|()| Actor::new(KeyType::Ed25519));
        let register = |subject, consent, key: &Actor| Operation::RegisterDid {
            subject,
            key: key.key.public().clone(),
            consent,
        };
        self.twice(trustee, register(newcomer.id, None, &newcomer));
        let half = Identifier::of_seed_key(indy.key.public()).unwrap();
        let consent = indy
            .key
            .sign(&half.consent_bytes(network.as_str()))
            .unwrap();
        let consent: [u8; 64] = consent.try_into().unwrap();
        let without = self.signed(trustee, vec![register(half, None, &indy)]);
        let with = self.signed(trustee, vec![register(half, Some(consent), &indy)]);
        let strangers = self.signed(other, vec![register(half, Some(consent), &indy)]);
        self.block(&[without, strangers, with]);
        let anchor = |issued| Operation::AnchorStatus {
            list: "https://a.example/1".to_owned(),
            digest: [1; 32],
            issued,
        };
        let now = self.world.time;
        self.twice(owner, anchor(now));
        let future = self.signed(owner, vec![anchor(now.plus(9_999))]);
        let newer = self.signed(owner, vec![anchor(now.plus(1))]);
        self.block(&[future, newer]);
        let mut ending = Actor::new(KeyType::P256);
        let (create, end) = (ending.create(&network), ending.deactivate(&network, 2));
        let after = ending.deactivate(&network, 3);
        self.block(&[create, end, after]);
    }

    fn anoncreds(&mut self, owner: &mut Actor, other: &mut Actor) {
        let published = Published::by(owner.id, &self.world);
        for operation in published.all() {
            let strangers = self.signed(other, vec![operation.clone()]);
            self.block(&[strangers]);
            self.twice(owner, operation);
        }
        let malformed = Operation::Schema {
            json: "{\"name\":1}".to_owned(),
        };
        let malformed = self.signed(owner, vec![malformed]);
        self.block(&[malformed]);
        let first = published.first_entry();
        self.twice(owner, Operation::RevocationEntry(first.clone()));
        let next = published.entry(0, &[], &[1, 3]);
        self.twice(owner, Operation::RevocationEntry(next));
        let unordered = RevocationEntry {
            revoked: vec![4, 2],
            ..published.entry(1, &[], &[])
        };
        let unordered = self.signed(owner, vec![Operation::RevocationEntry(unordered)]);
        self.block(&[unordered]);
        for (tag, names) in [("ascii", "Height"), ("folded", "Größe")] {
            let did = published.did.as_str();
            let json = serde_json::json!({
                "name": tag, "version": "1", "issuerId": did, "attrNames": [names, "Id Number"],
            });
            let json = json.to_string();
            let schema = self.signed(owner, vec![Operation::Schema { json }]);
            self.block(&[schema]);
        }
    }

    fn objects(&mut self, owner: &mut Actor, other: &mut Actor) {
        let resource = Resource {
            id: ResourceId([2; 16]),
            name: "clubs".to_owned(),
            kind: "TrustList".to_owned(),
            version: None,
            media_type: "text/plain".to_owned(),
            also_known_as: Vec::new(),
            data: ResourceData::Bytes(b"all of them".to_vec()),
        };
        self.twice(owner, Operation::Resource(resource.clone()));
        let nameless = Resource {
            id: ResourceId([3; 16]),
            name: String::new(),
            ..resource
        };
        let nameless = self.signed(owner, vec![Operation::Resource(nameless)]);
        self.block(&[nameless]);
        let delegation = Delegation {
            name: "d".to_owned(),
            to: other.id,
            scope: vec!["T".to_owned()],
            action: Action::Consume,
            until: self.world.time.plus(1_000),
        };
        self.twice(owner, Operation::Delegate(delegation));
        let consume = |handle, kind: &str| {
            Operation::Consume(Consume {
                issuer: owner.id,
                kind: kind.to_owned(),
                handle: [handle; 32],
                action: Action::Consume,
                delegation: Some("d".to_owned()),
            })
        };
        let [first, outside, last] = [consume(1, "T"), consume(2, "U"), consume(3, "T")];
        self.twice(other, first);
        let outside = self.signed(other, vec![outside]);
        self.block(&[outside]);
        let name = "d".to_owned();
        self.twice(owner, Operation::WithdrawDelegation { name });
        let late = self.signed(other, vec![last]);
        self.block(&[late]);
    }

    fn governance(&mut self, [trustee, steward, owner, other]: [&mut Actor; 4]) {
        let role = |role| Operation::SetRole {
            subject: other.id,
            role,
        };
        let [endorser, none] = [role(Some(Role::Endorser)), role(None)];
        let strangers = self.signed(owner, vec![endorser.clone()]);
        self.block(&[strangers]);
        self.twice(trustee, endorser);
        self.twice(trustee, none);
        let change = |add: &[(&str, u64)], remove: &[&str]| Operation::ChangeValidators {
            add: add
                .iter()
                .map(|(name, power)| validator(name, *power))
                .collect(),
            remove: remove.iter().map(|name| (*name).to_owned()).collect(),
        };
        self.twice(trustee, change(&[("two", 5), ("three", 1)], &[]));
        let refused = self.signed(trustee, vec![change(&[], &["one", "two", "three"])]);
        let mighty = self.signed(steward, vec![change(&[("own", 9)], &[])]);
        let own = self.signed(steward, vec![change(&[("own", 1)], &[])]);
        self.block(&[refused, mighty, own]);
        let mut left = validator("four", 1);
        left.consensus = None;
        let left = Operation::ChangeValidators {
            add: vec![left],
            remove: ["one", "own", "three", "two"].map(str::to_owned).to_vec(),
        };
        let left = self.signed(trustee, vec![left]);
        self.block(&[left]);
        self.twice(trustee, Operation::SetAgreement(Some(agreement("1"))));
        let network = self.world.network().clone();
        let mut accepting = owner.body(&network, vec![none_of(owner)]);
        accepting.agreement = Some(Acceptance {
            version: "1".to_owned(),
            digest: [9; 32],
            mechanism: "click".to_owned(),
            day: self.world.time.0 / 86_400,
        });
        let accepting = owner.transaction(accepting, None);
        let refusing = self.signed(owner, vec![none_of(owner)]);
        self.block(&[refusing, accepting]);
        self.twice(trustee, Operation::SetAgreement(None));
        self.rules(trustee, [owner, other]);
    }

    fn rules(&mut self, trustee: &mut Actor, [owner, other]: [&mut Actor; 2]) {
        let from_height = self.world.head.height + 4;
        let rules = Rules {
            mode: Mode::Endorsed,
            author_quota: 2,
            max_transaction_bytes: 4 * 1024,
            ..Rules::default()
        };
        let changed = |from_height, rules| Operation::ChangeRules { from_height, rules };
        let past = self.signed(trustee, vec![changed(1, rules)]);
        let further = Rules {
            machine_version: 3,
            ..rules
        };
        let further = self.signed(trustee, vec![changed(from_height, further)]);
        let strangers = self.signed(owner, vec![changed(from_height, rules)]);
        self.block(&[past, further, strangers]);
        let change = self.signed(trustee, vec![changed(from_height, rules)]);
        self.block(&[change]);
        self.block(&[]);
        // From here on the chain is in mode `endorsed` with a low quota of operations.
        self.world.time = self.world.time.plus(3_600);
        let network = self.world.network().clone();
        let mut alone = Actor::new(KeyType::Ed25519);
        let refused = alone.create(&network);
        let content = alone.content();
        let mut body = alone.body(&network, vec![Operation::CreateDid(content)]);
        body.endorser = Some(trustee.id);
        let endorsed = alone.transaction(body.clone(), Some(trustee));
        body.endorser = Some(other.id);
        let by_nobody = alone.transaction(body, Some(other));
        let some: Vec<_> = (0..3)
            .map(|_| self.signed(owner, vec![none_of(owner)]))
            .collect();
        self.block(&[&[refused, by_nobody, endorsed][..], &some].concat());
    }
}

/// An operation that the owner can repeat without limit: it anchors a list whose time is the nonce, so each is newer.
fn none_of(owner: &Actor) -> Operation {
    Operation::AnchorStatus {
        list: "https://a.example/2".to_owned(),
        digest: [2; 32],
        issued: UnixTime(1_000 + owner.nonce),
    }
}

fn made() -> String {
    let (world, [mut trustee, mut steward, _]) = World::governed(Mode::Open);
    let mut chain = Chain::begin(world);
    let (mut owner, mut other) = (Actor::new(KeyType::P256), Actor::new(KeyType::Ed25519));
    chain.identities([&mut trustee, &mut owner, &mut other]);
    chain.anoncreds(&mut owner, &mut other);
    chain.objects(&mut owner, &mut other);
    chain.governance([&mut trustee, &mut steward, &mut owner, &mut other]);
    chain.made
}

/// To be run only for a machine that no network uses yet.
#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_the_golden_chain() {
    std::fs::write(file(CHAIN), made()).unwrap();
}

/// The genesis of a chain, and the times and transactions of its blocks.
fn blocks(chain: &str) -> (Genesis, Vec<(UnixTime, Vec<Transaction>)>) {
    let (_, chain) = chain.split_once("----\n").unwrap();
    let (mut genesis, mut blocks) = (None, Vec::new());
    for line in chain.lines() {
        let (what, value) = line.split_once(' ').unwrap();
        let bytes = || hex_decode(value).unwrap();
        match what {
            "genesis" => genesis = Some(Genesis::from_bytes(&bytes()).unwrap()),
            "block" => blocks.push((UnixTime(value.parse().unwrap()), Vec::new())),
            "tx" => {
                let transaction = Transaction::from_bytes(&bytes()).unwrap();
                blocks.last_mut().unwrap().1.push(transaction);
            }
            _ => {}
        }
    }
    (genesis.unwrap(), blocks)
}

/// Applies the chain in a file, and compares the result of each block with the file.
pub fn comes_to_the_same(file: &std::path::Path) {
    let chain = std::fs::read_to_string(file).unwrap();
    let (genesis, blocks) = blocks(&chain);
    let mut again = format!("{HEADER}genesis {}\n", hex_encode(&genesis.to_bytes()));
    let mut world = World::of(genesis);
    world.state.clear();
    for (time, transactions) in blocks {
        world.time = time;
        let applied = world.block(&transactions);
        again.push_str(&told(&applied, &transactions, time));
    }
    let differs = chain.lines().zip(again.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None);
    assert!(chain == again, "one of them is longer");
}

#[test]
fn the_golden_chain_comes_to_what_it_came_to_when_it_was_made() {
    comes_to_the_same(&file(CHAIN));
}

/// The kinds of operations that a chain accepts and refuses, and the codes of the refusals.
fn answers(name: &str) -> ([BTreeSet<u8>; 2], BTreeSet<String>) {
    let chain = std::fs::read_to_string(file(name)).unwrap();
    let (_, blocks) = blocks(&chain);
    let results = chain.lines().filter(|line| line.starts_with("= "));
    let transactions = blocks.iter().flat_map(|(_, transactions)| transactions);
    let (mut accepted, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let mut codes = BTreeSet::new();
    for (transaction, result) in transactions.zip(results) {
        let kinds = transaction.body().operations.iter().map(kind);
        match result["= ".len()..].split_once(": ") {
            Some((code, _)) => {
                codes.insert(code.to_owned());
                refused.extend(kinds);
            }
            None => accepted.extend(kinds),
        }
    }
    ([accepted, refused], codes)
}

#[test]
fn the_golden_chain_has_each_operation_accepted_and_refused() {
    let all: BTreeSet<u8> = (1..=17).collect();
    assert_eq!(answers(CHAIN).0, [all.clone(), all]);
}

#[test]
fn the_golden_chains_have_each_code_of_a_refusal() {
    let all: BTreeSet<String> = CODES.iter().map(|code| (*code).to_owned()).collect();
    let (first, further) = (answers(CHAIN).1, answers(crate::golden_further::CHAIN).1);
    assert_eq!(&first | &further, all);
}

/// The number at the start of the operation's encoding (docs/did-method.md §2).
fn kind(operation: &Operation) -> u8 {
    use selfsame_proof::cbor::CborItem as _;
    operation.to_cbor()[1]
}
