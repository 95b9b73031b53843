//! Tests of the engine's requests, without an engine.

mod races;
mod snapshots;
mod times;

use std::path::Path;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use selfsame_driver::keys::Keys;
use selfsame_ledger::log_origin;
use selfsame_ledger::view::Misbehaviour;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::note::SignedNote;
use selfsame_proof::validators::Validator;
use selfsame_registry::{
    Content, Genesis, Identifier, Operation, Rules, StateMachine, UnsignedTransaction,
    network as authority,
};
use selfsame_store::ledger::MemoryLedger;
use selfsame_store::{Memory, Store, TenantId, Vault};
use tendermint::abci::request::{
    ExtendVote, FinalizeBlock, InitChain, PrepareProposal, ProcessProposal, VerifyVoteExtension,
};
use tendermint::abci::response;
use tendermint::abci::types::{CommitInfo, Misbehavior, MisbehaviorKind};
use tendermint::{Hash, Time, account, block};

use super::*;
use crate::files::{Addresses, Beginning, Home, Member, Network, app_state};
use crate::notes::address_of;

const BEGAN: i64 = 1_700_000_000;
/// The file of the trustee's key in a test's network.
const TRUSTEE: &str = "trustee.key";

/// A network of three; this node is the first.
struct World {
    application: Arc<Application>,
    consensus: Consensus,
    genesis: Genesis,
    homes: Vec<Home>,
    folder: Arc<tempfile::TempDir>,
    kept: Arc<MemoryLedger>,
}

impl World {
    async fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        network(folder.path());
        Self::of(folder, 0).await
    }

    /// Another node of the network, without any blocks.
    async fn neighbour(&self, n: usize) -> Self {
        Self::of(self.folder.clone(), n).await
    }

    async fn of(folder: Arc<tempfile::TempDir>, n: usize) -> Self {
        let store = Arc::new(MemoryLedger::new());
        Self::run_by(authority::MACHINE_VERSION, (folder, n), store).await
    }

    /// A node over a ledger, whose program has machines up to version `known`.
    async fn run_by(
        known: u64,
        place: (Arc<tempfile::TempDir>, usize),
        kept: Arc<MemoryLedger>,
    ) -> Self {
        let machine = |genesis| StateMachine::new(genesis).of_program(known);
        Self::with(place, kept, machine).await
    }

    /// A node with a machine of its own.
    async fn with(
        (folder, n): (Arc<tempfile::TempDir>, usize),
        kept: Arc<MemoryLedger>,
        machine: impl FnOnce(Genesis) -> StateMachine,
    ) -> Self {
        let homes = ["a", "b", "c"].map(|name| Home::open(&folder.path().join(name)).unwrap());
        let genesis = homes[0].genesis().clone();
        let signer = signer(&homes[n]).await;
        let machine = Arc::new(machine(genesis.clone()));
        let ledger = Ledger::open(kept.clone(), machine).unwrap();
        let head = ledger.head().unwrap();
        let notes = Notes::new(&genesis, head, genesis.validators().clone()).unwrap();
        let parts = ApplicationParts {
            ledger,
            waiting: WaitingSubmitters::new(8),
            notes: Arc::new(notes),
            misbehaviours: Arc::new(Misbehaviours::kept_in(homes[n].misbehaviour())),
            peers: Arc::new(Peers::of(&homes[n])),
            signer,
            clock: Clock::default(),
            retained_blocks: 30,
            begins_after: 0,
        };
        let application = Arc::new(Application::new(parts).unwrap());
        Self {
            consensus: Consensus::new(application.clone()).unwrap(),
            application,
            genesis,
            homes: homes.into(),
            folder,
            kept,
        }
    }

    fn creation(&self) -> Bytes {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        self.signed(&key, &key)
    }

    fn signed(&self, of: &PrivateKey, by: &PrivateKey) -> Bytes {
        let id = Identifier::of_key(of.public()).unwrap();
        let content = Content::of_key("key-1", of.public().clone());
        let network = self.genesis.network();
        let unsigned = UnsignedTransaction::new(&network, id, 0, Operation::CreateDid(content));
        let signature = by.sign(unsigned.signing_bytes()).unwrap();
        let signed = unsigned.signed("key-1", &signature).unwrap();
        signed.to_bytes().into()
    }

    async fn block(&mut self, height: u32, txs: Vec<Bytes>) -> response::FinalizeBlock {
        let finalized = self.consensus.finalize(&decided(height, txs)).unwrap();
        self.consensus.commit().await.unwrap();
        finalized
    }

    /// Makes the others sign the last block's checkpoint, as in the votes for the next block.
    fn complete(&self) {
        let next = u32::try_from(self.stored().height).unwrap() + 1;
        let own = self.homes[0].checkpoint_key().unwrap();
        let (_, bytes) = self.application.notes.to_sign();
        assert!(
            self.application
                .notes
                .add_own("a", &own.sign(&bytes).unwrap())
        );
        // A removed validator does not sign.
        for node in [1, 2] {
            self.consensus.verify(&self.vote(next, node, node));
        }
        let noted = self.application.notes.newest().unwrap();
        assert_eq!(noted.head, self.stored());
    }

    /// A transaction of the trustee that removes the third validator.
    fn removal(&self) -> Bytes {
        self.change(1, (Vec::new(), vec!["c".to_owned()]))
    }

    /// A transaction of the trustee that changes the validators.
    fn change(&self, nonce: u64, (add, remove): (Vec<Validator>, Vec<String>)) -> Bytes {
        self.governing(nonce, Operation::ChangeValidators { add, remove })
    }

    fn governing(&self, nonce: u64, operation: Operation) -> Bytes {
        let pkcs8 = std::fs::read(self.folder.path().join(TRUSTEE)).unwrap();
        let key = PrivateKey::from_pkcs8(&pkcs8).unwrap();
        let id = Identifier::of_key(key.public()).unwrap();
        let unsigned = UnsignedTransaction::new(&self.genesis.network(), id, nonce, operation);
        let signature = key.sign(unsigned.signing_bytes()).unwrap();
        unsigned
            .signed("key-1", &signature)
            .unwrap()
            .to_bytes()
            .into()
    }

    fn stored(&self) -> Head {
        self.application.ledger.head().unwrap()
    }

    /// A vote of another validator, signed with the key of node `key_of`.
    fn vote(&self, height: u32, node: usize, key_of: usize) -> VerifyVoteExtension {
        let validator = &self.genesis.validators().validators()[node];
        let origin = log_origin(&self.genesis.network());
        let checkpoint: Checkpoint = self.stored().checkpoint(&origin);
        let text = checkpoint.to_note().unwrap();
        let key = self.homes[key_of].checkpoint_key().unwrap();
        VerifyVoteExtension {
            hash: Hash::None,
            validator_address: account::Id::new(address_of(validator.consensus.as_ref().unwrap())),
            height: block::Height::from(height),
            vote_extension: key.sign(text.signing_bytes()).unwrap().into(),
        }
    }
}

fn network(at: &Path) -> Genesis {
    let addresses = Addresses {
        p2p: ([127, 0, 0, 1], 1).into(),
        rpc: ([127, 0, 0, 1], 2).into(),
    };
    let members = ["a", "b", "c"].map(|name| Member {
        name: name.to_owned(),
        addresses,
    });
    let trustee = PrivateKey::generate(KeyType::Ed25519).unwrap();
    std::fs::write(at.join(TRUSTEE), trustee.to_pkcs8().unwrap().expose()).unwrap();
    let beginning = Beginning {
        name: "test".to_owned(),
        time: answers::seconds(time(0)),
        rules: Rules::default(),
        authorities: vec![authority::Member {
            key: trustee.public().clone(),
            role: authority::Role::Trustee,
        }],
    };
    let network = Network::create(at, beginning, &members).unwrap();
    network.genesis().clone()
}

async fn signer(home: &Home) -> CheckpointKey {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
    let (keys, tenant) = (Keys::new(store), TenantId::parse("registry").unwrap());
    let key = home.checkpoint_key().unwrap();
    let handle = KeyHandle::of(key.public());
    keys.import(&tenant, key).await.unwrap();
    CheckpointKey {
        name: home.name().to_owned(),
        keys,
        tenant,
        key: handle,
    }
}

fn time(after: i64) -> Time {
    Time::from_unix_timestamp(BEGAN + after, 0).unwrap()
}

fn decided(height: u32, txs: Vec<Bytes>) -> FinalizeBlock {
    FinalizeBlock {
        txs,
        decided_last_commit: CommitInfo {
            round: 0_u16.into(),
            votes: Vec::new(),
        },
        misbehavior: Vec::new(),
        hash: Hash::None,
        height: height.into(),
        time: time(i64::from(height)),
        next_validators_hash: Hash::None,
        proposer_address: account::Id::new([0; 20]),
    }
}

fn proposed(txs: Vec<Bytes>) -> ProcessProposal {
    let block = decided(1, txs);
    ProcessProposal {
        txs: block.txs,
        proposed_last_commit: None,
        misbehavior: Vec::new(),
        hash: Hash::None,
        height: block.height,
        time: block.time,
        next_validators_hash: Hash::None,
        proposer_address: block.proposer_address,
    }
}

fn waiting(txs: Vec<Bytes>, max_tx_bytes: usize) -> PrepareProposal {
    let block = decided(1, txs);
    PrepareProposal {
        max_tx_bytes: i64::try_from(max_tx_bytes).unwrap(),
        txs: block.txs,
        local_last_commit: None,
        misbehavior: Vec::new(),
        height: block.height,
        time: block.time,
        next_validators_hash: Hash::None,
        proposer_address: block.proposer_address,
    }
}

fn beginning(world: &World, app_state: String) -> InitChain {
    let file = world.homes[0].engine().join("config/genesis.json");
    let file: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut params = file["consensus_params"].clone();
    // The engine's file and the protocol's types write equal numbers differently.
    params["abci"]["vote_extensions_enable_height"] = serde_json::json!("1");
    let validators = world.genesis.validators();
    let nobody = selfsame_proof::validators::ValidatorSet::new(vec![Validator {
        consensus: None,
        ..validators.validators()[0].clone()
    }]);
    InitChain {
        time: time(0),
        chain_id: "test".to_owned(),
        consensus_params: serde_json::from_value(params).unwrap(),
        validators: validators::updates(&nobody.unwrap(), validators).unwrap(),
        app_state_bytes: app_state.into(),
        initial_height: 1_u32.into(),
    }
}

#[tokio::test]
async fn a_network_begins_with_our_genesis_and_our_validators_only() {
    let world = World::new().await;
    let good = beginning(&world, app_state(&world.genesis));
    assert!(world.consensus.init(&good).is_ok());
    let other = World::new().await;
    let foreign = beginning(&world, app_state(&other.genesis));
    assert!(
        world
            .consensus
            .init(&foreign)
            .unwrap_err()
            .0
            .contains("differs from this node's")
    );
    let mut fewer = good;
    fewer.validators.pop();
    assert!(
        world
            .consensus
            .init(&fewer)
            .unwrap_err()
            .0
            .contains("the validators in the engine's genesis differ")
    );
}

#[tokio::test]
async fn a_decided_block_is_stored_when_the_engine_asks_for_it_and_not_before() {
    let mut world = World::new().await;
    let block = decided(1, vec![world.creation(), world.creation()]);
    let finalized = world.consensus.finalize(&block).unwrap();
    assert_eq!(world.stored().height, 0);
    // A repeated request, as after a crash, gets an equal answer.
    assert_eq!(world.consensus.finalize(&block).unwrap(), finalized);
    world.consensus.commit().await.unwrap();
    let head = world.stored();
    assert_eq!((head.height, head.log.size()), (1, 2));
    assert_eq!(finalized.app_hash.as_bytes(), head.app_hash());
    assert!(world.consensus.commit().await.is_err());
    assert!(world.consensus.finalize(&decided(3, Vec::new())).is_err());
}

#[tokio::test]
async fn an_empty_block_leaves_what_the_validators_agree_on_as_it_was() {
    let mut world = World::new().await;
    let creation = world.creation();
    let before = world.block(1, vec![creation]).await.app_hash;
    assert_eq!(world.block(2, Vec::new()).await.app_hash, before);
    assert_eq!(world.stored().height, 2);
}

#[tokio::test]
async fn what_is_refused_in_a_block_has_a_code_and_is_not_in_the_log() {
    let mut world = World::new().await;
    let (key, other) = (
        PrivateKey::generate(KeyType::Ed25519).unwrap(),
        PrivateKey::generate(KeyType::Ed25519).unwrap(),
    );
    let txs = vec![
        world.signed(&key, &other),
        Bytes::from_static(b"garbage"),
        world.signed(&key, &key),
    ];
    let results = world.block(1, txs).await.tx_results;
    let codes: Vec<u32> = results.iter().map(|result| result.code.value()).collect();
    assert_eq!(codes, [2, 1, 0]);
    assert_eq!(results[0].codespace, "bad_signature");
    assert_eq!(
        results[2].data,
        Bytes::copy_from_slice(&1_u64.to_be_bytes())
    );
    assert_eq!(world.stored().log.size(), 1);
}

#[tokio::test]
async fn a_proposal_holds_what_fits_and_what_the_machine_would_accept() {
    let world = World::new().await;
    let (key, other) = (
        PrivateKey::generate(KeyType::Ed25519).unwrap(),
        PrivateKey::generate(KeyType::Ed25519).unwrap(),
    );
    let (good, forged) = (world.signed(&key, &key), world.signed(&key, &other));
    let txs = vec![
        forged,
        Bytes::from_static(b"garbage"),
        good.clone(),
        good.clone(),
    ];
    let room = 1 << 20;
    assert_eq!(
        world.consensus.prepare(waiting(txs, room)),
        std::slice::from_ref(&good)
    );
    let second = world.creation();
    let both = vec![good.clone(), second];
    assert_eq!(
        world.consensus.prepare(waiting(both, good.len() + 10)),
        [good]
    );
}

#[tokio::test]
async fn a_proposal_with_what_is_no_transaction_is_rejected() {
    let world = World::new().await;
    let good = world.creation();
    let process = |txs| world.consensus.process(&proposed(txs));
    assert_eq!(
        process(vec![good.clone()]),
        response::ProcessProposal::Accept
    );
    let oversized = Bytes::from(vec![0x82; 1 << 20]);
    for bad in [Bytes::from_static(b"garbage"), Bytes::new(), oversized] {
        let answer = process(vec![good.clone(), bad]);
        assert_eq!(answer, response::ProcessProposal::Reject);
    }
}

#[tokio::test]
async fn a_change_of_validators_that_would_stop_the_engine_is_neither_proposed_nor_decided() {
    let mut world = World::new().await;
    let outside = Validator {
        consensus: None,
        ..world.genesis.validators().validators()[0].clone()
    };
    let all = ["a", "b", "c"].map(str::to_owned).to_vec();
    let left = world.change(1, (vec![outside], all));
    let (room, creation) = (1 << 20, world.creation());
    let proposal = waiting(vec![left.clone(), creation.clone()], room);
    assert_eq!(
        world.consensus.prepare(proposal),
        std::slice::from_ref(&creation)
    );
    // If it is proposed anyway, the network goes on: it does not count.
    let finalized = world.block(1, vec![left, creation]).await;
    assert_eq!(finalized.tx_results[0].codespace, "governance_refused");
    assert!(finalized.validator_updates.is_empty());
    // A change that the engine can follow is judged like any other.
    let removal = world.change(2, (Vec::new(), vec!["c".to_owned()]));
    let removal = std::slice::from_ref(&removal);
    let process = world.consensus.process(&proposed(removal.to_vec()));
    assert_eq!(process, response::ProcessProposal::Accept);
    let prepared = world.consensus.prepare(waiting(removal.to_vec(), room));
    assert_eq!(prepared, removal);
}

#[tokio::test]
async fn what_the_machine_accepts_and_the_engine_does_not_take_is_neither_proposed_nor_let_through()
{
    let mut world = World::new().await;
    let removal = world.change(1, (Vec::new(), vec!["c".to_owned()]));
    let (room, creation) = (1 << 20, world.creation());
    let both = vec![creation.clone(), removal];
    let proposal = proposed(both.clone());
    let process = world.consensus.process(&proposal);
    assert_eq!(process, response::ProcessProposal::Accept);
    assert_eq!(world.consensus.prepare(waiting(both.clone(), room)), both);
    // This engine removes no validator.
    world.consensus.with_engine(|_, updates| {
        match updates.iter().any(|update| update.power.value() == 0) {
            true => Err(Halt("it stays".to_owned())),
            false => Ok(()),
        }
    });
    let process = world.consensus.process(&proposal);
    assert_eq!(process, response::ProcessProposal::Reject);
    let alone = vec![creation];
    assert_eq!(world.consensus.prepare(waiting(both, room)), alone);
    let process = world.consensus.process(&proposed(alone));
    assert_eq!(process, response::ProcessProposal::Accept);
}

#[tokio::test]
async fn a_network_goes_over_to_no_machine_that_a_validators_program_does_not_have() {
    let world = World::new().await;
    let rules = Rules {
        machine_version: authority::MACHINE_VERSION + 1,
        ..Rules::default()
    };
    let from_height = 9;
    let over = world.governing(1, Operation::ChangeRules { from_height, rules });
    let request = request::CheckTx {
        tx: over.clone(),
        kind: CheckTxKind::New,
    };
    let checked = world.application.check(&request);
    assert_eq!(checked.codespace, "governance_refused");
    assert!(
        checked.log.contains("install a newer one"),
        "{}",
        checked.log
    );
    let creation = world.creation();
    let prepared = waiting(vec![over.clone(), creation.clone()], 1 << 20);
    assert_eq!(world.consensus.prepare(prepared), [creation]);
    let process = world.consensus.process(&proposed(vec![over]));
    assert_eq!(process, response::ProcessProposal::Reject);
}

/// A machine whose next version adds the operation that ends a DID.
fn with_a_new_operation(machine: StateMachine) -> StateMachine {
    machine.with_operations_since(|operation| match operation {
        Operation::DeactivateDid { .. } => authority::MACHINE_VERSION + 1,
        _ => 1,
    })
}

#[tokio::test]
async fn an_operation_is_no_transaction_at_all_before_the_machine_that_it_came_with() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    network(folder.path());
    let next = authority::MACHINE_VERSION + 1;
    let store = Arc::new(MemoryLedger::new());
    let machine = |genesis| with_a_new_operation(StateMachine::new(genesis).of_program(next));
    let mut world = World::with((folder, 0), store, machine).await;
    let rules = Rules {
        machine_version: next,
        ..Rules::default()
    };
    let over = |from_height| Operation::ChangeRules { from_height, rules };
    let over = world.governing(1, over(3));
    let new = world.governing(2, Operation::DeactivateDid { version: 2 });
    let asked = request::CheckTx {
        tx: new.clone(),
        kind: CheckTxKind::New,
    };
    let proposal = |height| ProcessProposal {
        height: block::Height::from(height),
        ..proposed(vec![new.clone()])
    };
    let waits = || waiting(vec![new.clone()], 1 << 20);
    // An older program answers so, since it cannot even parse it.
    for height in [1, 2] {
        assert_eq!(world.application.check(&asked).codespace, "malformed");
        assert!(world.consensus.prepare(waits()).is_empty());
        let process = world.consensus.process(&proposal(height));
        assert_eq!(process, response::ProcessProposal::Reject);
        let first = [over.clone()].into_iter().take((height == 1).into());
        let block = first.chain([new.clone()]).collect();
        let results = world.block(height, block).await.tx_results;
        assert_eq!(results.last().unwrap().codespace, "malformed");
    }
    assert_ne!(world.application.check(&asked).codespace, "malformed");
    let process = world.consensus.process(&proposal(3));
    assert_eq!(process, response::ProcessProposal::Accept);
    let results = world.block(3, vec![new.clone()]).await.tx_results;
    assert_ne!(results[0].codespace, "malformed");
}

#[tokio::test]
async fn in_a_network_of_mixed_versions_the_older_program_stops_and_its_successor_goes_on() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    network(folder.path());
    let next = authority::MACHINE_VERSION + 1;
    let run_by = |known, n, store: &Arc<MemoryLedger>| {
        World::run_by(known, (folder.clone(), n), store.clone())
    };
    let stores = [(); 2].map(|()| Arc::new(MemoryLedger::new()));
    let mut newer = run_by(next, 0, &stores[0]).await;
    let mut older = run_by(authority::MACHINE_VERSION, 1, &stores[1]).await;
    let rules = Rules {
        machine_version: next,
        ..Rules::default()
    };
    let from_height = 9;
    let over = newer.governing(1, Operation::ChangeRules { from_height, rules });
    let creation = newer.creation();

    // Until the network switches over, both answer alike.
    let first = newer.block(1, vec![creation.clone()]).await;
    assert_eq!(
        older.block(1, vec![creation]).await.app_hash,
        first.app_hash
    );
    let proposal = proposed(vec![over.clone()]);
    assert_eq!(
        newer.consensus.process(&proposal),
        response::ProcessProposal::Accept
    );
    assert_eq!(
        older.consensus.process(&proposal),
        response::ProcessProposal::Reject
    );
    let second = newer.block(2, vec![over.clone()]).await;
    assert!(second.tx_results[0].code.is_ok());
    let Halt(why) = older
        .consensus
        .finalize(&decided(2, vec![over.clone()]))
        .unwrap_err();
    assert!(why.contains("install a newer one"), "{why}");

    drop(older);
    let mut replaced = run_by(next, 1, &stores[1]).await;
    assert_eq!(
        replaced.block(2, vec![over]).await.app_hash,
        second.app_hash
    );
}

#[tokio::test]
async fn a_node_that_follows_judges_again_whatever_a_block_may_have_made_invalid() {
    let world = World::new().await;
    let mut removed = world.neighbour(2).await;
    removed.block(1, vec![world.removal()]).await;
    // The trustee registers a DID that registers itself at that moment.
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let own = world.signed(&key, &key);
    let register = Operation::RegisterDid {
        subject: Identifier::of_key(key.public()).unwrap(),
        key: key.public().clone(),
        consent: None,
    };
    let first = world.governing(2, register);
    let check = |world: &World, kind| {
        let tx = own.clone();
        world.application.check(&request::CheckTx { tx, kind })
    };
    assert!(check(&removed, CheckTxKind::New).code.is_ok());
    removed.block(2, vec![first]).await;
    let again = check(&removed, CheckTxKind::Recheck);
    assert_eq!(again.codespace, "did_exists");
    // If nothing was written, nothing is judged again.
    removed.block(3, Vec::new()).await;
    assert!(check(&removed, CheckTxKind::Recheck).code.is_ok());
}

#[tokio::test]
async fn a_validator_that_votes_twice_is_named_and_remembered() {
    let mut world = World::new().await;
    let validators = world.genesis.validators().clone();
    let key = validators.validators()[1].consensus.as_ref().unwrap();
    let evidence = |at: u32| Misbehavior {
        kind: MisbehaviorKind::DuplicateVote,
        validator: tendermint::abci::types::Validator {
            address: address_of(key),
            power: 1_u32.into(),
        },
        height: at.into(),
        time: time(0),
        total_voting_power: 3_u32.into(),
    };
    let mut block = decided(1, Vec::new());
    block.misbehavior = vec![evidence(7), evidence(8)];
    world.consensus.finalize(&block).unwrap();
    assert!(world.application.misbehaviours.all().is_empty());
    world.consensus.commit().await.unwrap();
    let found = Misbehaviour {
        validator: "b".to_owned(),
        kind: "double_vote".to_owned(),
        count: 2,
        first_height: 7,
        last_height: 8,
    };
    let all = world.application.misbehaviours.all();
    assert_eq!(all, std::slice::from_ref(&found));
    world.block(2, Vec::new()).await;
    // After a restart it is still known, and a repeated block counts once.
    let again = Misbehaviours::kept_in(world.homes[0].misbehaviour());
    again.in_block(1, &block.misbehavior, &world.application.ledger);
    assert_eq!(again.all(), [found]);
    again.in_block(3, &[evidence(9)], &world.application.ledger);
    let all = again.all();
    assert_eq!((all[0].count, all[0].last_height), (3, 9));
}

#[tokio::test]
async fn votes_complete_the_checkpoint_of_the_block_before_and_a_wrong_signature_does_not_count() {
    let mut world = World::new().await;
    let creation = world.creation();
    world.block(1, vec![creation]).await;
    let block = decided(2, Vec::new());
    let own = ExtendVote {
        hash: Hash::None,
        height: block.height,
        time: block.time,
        txs: Vec::new(),
        proposed_last_commit: None,
        misbehavior: Vec::new(),
        next_validators_hash: Hash::None,
        proposer_address: block.proposer_address,
    };
    assert_eq!(
        world
            .consensus
            .extend(&own)
            .await
            .unwrap()
            .vote_extension
            .len(),
        64
    );
    let verify = |vote: &VerifyVoteExtension| {
        world.consensus.verify(vote) == response::VerifyVoteExtension::Accept
    };
    assert!(verify(&world.vote(2, 1, 1)));
    assert!(!verify(&world.vote(2, 2, 1)), "signed by another's key");
    assert!(!verify(&world.vote(3, 2, 2)), "of another height");
    assert!(
        world.application.notes.newest().is_none(),
        "two of three are not enough"
    );
    assert!(verify(&world.vote(2, 2, 2)));
    assert!(verify(&world.vote(2, 2, 2)), "the same vote again");
    let noted = world.application.notes.newest().unwrap();
    assert_eq!((noted.head.height, noted.signers.len()), (1, 3));
    let note = SignedNote::parse(&noted.text).unwrap();
    let origin = log_origin(&world.genesis.network());
    let agreed = Checkpoint::agreed(&note, &origin, world.genesis.validators()).unwrap();
    assert_eq!(agreed.standing, world.stored().standing());
}

#[tokio::test]
async fn the_engine_is_told_which_nodes_it_may_speak_to() {
    let world = World::new().await;
    let asked = |path: String| {
        let query = request::Query {
            data: Bytes::new(),
            path,
            height: block::Height::default(),
            prove: false,
        };
        world.application.query(&query).code.is_ok()
    };
    let known = world.homes[1].peer().unwrap().split_once('@').unwrap().0;
    assert!(asked(format!("/p2p/filter/id/{known}")));
    assert!(!asked(format!("/p2p/filter/id/{}", "0".repeat(40))));
    assert!(asked("/p2p/filter/addr/127.0.0.1:26656".to_owned()));
}

#[tokio::test]
async fn a_node_whose_ledger_is_damaged_halts_says_what_to_do_and_is_known_as_damaged() {
    use selfsame_store::ledger::{Block, LedgerStore as _, TreeChanges};
    let mut world = World::new().await;
    let creation = world.creation();
    world.block(1, vec![creation]).await;
    let head = world.stored();
    // Writes a value that differs from the tree's, at the next height so that it can be written.
    let rotten = Block {
        height: 2,
        entries: Vec::new(),
        writes: [(b"rules".to_vec(), vec![0])].into(),
        tree: TreeChanges::default(),
        head: head.to_bytes(),
    };
    world.kept.append(rotten).await.unwrap();
    let damage = world.application.ledger.damage().clone();
    assert!(!damage.is_found());
    let creation = world.creation();
    let halt = world
        .consensus
        .finalize(&decided(2, vec![creation]))
        .err()
        .unwrap();
    assert!(halt.0.contains("selfsame check --data"), "{halt:?}");
    assert!(halt.0.contains("selfsame registry join"), "{halt:?}");
    assert!(damage.is_found());
}
