//! A node that starts from another node's ledger, and the snapshots it refuses.

use selfsame_ledger::trust_root;
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::read::{Handover, MAX_HANDOVERS, TrustRoot};
use tendermint::abci::request::{ApplySnapshotChunk, LoadSnapshotChunk, OfferSnapshot};
use tendermint::abci::response::{ApplySnapshotChunkResult as Answer, OfferSnapshot as Offered};
use tendermint::abci::types::Snapshot;

use super::*;
use crate::snapshot::{Chunk, Cuts, Manifest};

/// A snapshot as it is transferred.
#[derive(Clone)]
struct Parcel {
    manifest: Manifest,
    chunks: Vec<Vec<u8>>,
    /// The app hash that the engine has verified.
    app_hash: [u8; 32],
    height: block::Height,
}

impl Parcel {
    /// A node's snapshot, in small chunks.
    fn of(world: &World) -> Self {
        world.application.snapshots.cut_into(Cuts::with(1 << 20, 3));
        let listed = world.application.snapshots().unwrap().snapshots;
        let [snapshot] = listed.as_slice() else {
            panic!("one is offered");
        };
        let chunk = |chunk| {
            let request = LoadSnapshotChunk {
                height: snapshot.height,
                format: snapshot.format,
                chunk,
            };
            world.application.chunk(&request).chunk.to_vec()
        };
        let head = world.application.ledger.block(snapshot.height.value());
        Self {
            manifest: Manifest::from_cbor(&snapshot.metadata).unwrap(),
            chunks: (0..snapshot.chunks).map(chunk).collect(),
            app_hash: head.unwrap().app_hash(),
            height: snapshot.height,
        }
    }

    fn offer(&self) -> OfferSnapshot {
        let metadata = self.manifest.to_cbor();
        OfferSnapshot {
            snapshot: Snapshot {
                height: self.height,
                format: 1,
                chunks: u32::try_from(self.manifest.chunks.len()).unwrap(),
                hash: sha256(&metadata).to_vec().into(),
                metadata: metadata.into(),
            },
            app_hash: self.app_hash.to_vec().try_into().unwrap(),
        }
    }

    /// The snapshot with one changed chunk, and with matching hashes.
    fn with(&self, index: usize, change: impl FnOnce(&mut Chunk)) -> Self {
        let mut changed = self.clone();
        let mut chunk = Chunk::from_cbor(&self.chunks[index]).unwrap();
        change(&mut chunk);
        changed.chunks[index] = chunk.to_cbor();
        changed.manifest.chunks[index] = sha256(&changed.chunks[index]);
        assert_ne!(changed.chunks, self.chunks);
        changed
    }

    /// Makes a node take the snapshot. Returns true once it is taken, false if a chunk was refused.
    async fn is_taken_by(&self, world: &World) -> bool {
        let offered = world.application.offered(&self.offer()).await.unwrap();
        assert_eq!(offered, Offered::Accept);
        for (chunk, index) in self.chunks.iter().zip(0..) {
            let request = ApplySnapshotChunk {
                index,
                chunk: chunk.clone().into(),
                sender: "somebody".to_owned(),
            };
            let (answer, done) = world.application.take(&request).await.unwrap();
            if answer.result == Answer::RejectSnapshot {
                assert_eq!(answer.reject_senders, ["somebody"]);
                assert!(!done);
                return false;
            }
            assert_eq!(answer.result, Answer::Accept);
            assert_eq!(done, index as usize + 1 == self.chunks.len());
        }
        true
    }
}

/// A node with a ledger of twenty blocks. Some are empty, and the fifth changes the validators.
async fn grown() -> World {
    let mut world = World::new().await;
    for height in 1..=20 {
        let count = [2, 1, 0][height as usize % 3];
        let mut transactions: Vec<_> = (0..count).map(|_| world.creation()).collect();
        if height == 5 {
            transactions.push(world.removal());
        }
        world.block(height, transactions).await;
        world.complete();
    }
    world
}

#[tokio::test]
async fn a_node_that_begins_takes_the_whole_ledger_and_goes_on_with_it() {
    let mut world = grown().await;
    let parcel = Parcel::of(&world);
    assert!(parcel.chunks.len() > 2);
    let joining = world.neighbour(1).await;
    assert!(parcel.is_taken_by(&joining).await);
    let (own, theirs) = (&joining.application.ledger, &world.application.ledger);
    let height = parcel.height.value();
    for height in 1..=height {
        assert_eq!(own.block(height).unwrap(), theirs.block(height).unwrap());
    }
    let size = joining.stored().log.size();
    assert!(size > 5);
    assert_eq!(
        own.transactions(1, 100).unwrap(),
        theirs.transactions(1, size).unwrap()
    );
    let info = joining.application.info().unwrap();
    assert_eq!(info.last_block_height, parcel.height);
    assert_eq!(info.last_block_app_hash.as_bytes(), parcel.app_hash);
    // It proves its state at once, also to readers that know only the first validators.
    let handovers = own.handovers(0, height).unwrap();
    assert_eq!(handovers.len(), 1);
    assert_eq!(handovers, theirs.handovers(0, height).unwrap());
    let noted = joining.application.notes.newest().unwrap();
    assert_eq!(
        (noted.head.height, noted.text.clone()),
        (height, parcel.manifest.note.clone())
    );

    // The engine delivers the blocks after the snapshot.
    let mut consensus = Consensus::new(joining.application.clone()).unwrap();
    for next in height + 1..=20 {
        let transactions =
            theirs.block(next).unwrap().log.size() - theirs.block(next - 1).unwrap().log.size();
        let first = theirs.block(next - 1).unwrap().log.size() + 1;
        let placed = if transactions == 0 {
            Vec::new()
        } else {
            theirs.transactions(first, transactions).unwrap()
        };
        let txs = placed
            .into_iter()
            .map(|placed| placed.entry.bytes.into())
            .collect();
        consensus
            .finalize(&decided(u32::try_from(next).unwrap(), txs))
            .unwrap();
        consensus.commit().await.unwrap();
    }
    assert_eq!(joining.stored(), world.stored());
    let creation = world.creation();
    world.block(21, vec![creation]).await;
}

/// The handovers of a ledger, as far as a reader gets that knows only the genesis and asks repeatedly.
fn led(ledger: &Ledger) -> (TrustRoot, Vec<Handover>) {
    let (mut trust, mut all) = (trust_root(ledger.genesis()), Vec::new());
    loop {
        let some = ledger.handovers(trust.from_height, u64::MAX).unwrap();
        assert!(some.len() <= MAX_HANDOVERS);
        if some.is_empty() {
            return (trust, all);
        }
        for handover in some {
            trust = trust.after(&handover).unwrap();
            all.push(handover);
        }
    }
}

#[tokio::test]
async fn readers_are_led_through_all_changes_of_validators_also_by_who_began_with_a_snapshot() {
    let mut world = World::new().await;
    let genesis = world.genesis.validators().validators().to_vec();
    let third = genesis.iter().find(|validator| validator.name == "c");
    let changes = 2 * MAX_HANDOVERS as u32 + 10;
    for height in 1..=changes {
        let change = match height % 2 {
            1 => (Vec::new(), vec!["c".to_owned()]),
            _ => (vec![third.unwrap().clone()], Vec::new()),
        };
        let change = world.change(height.into(), change);
        world.block(height, vec![change]).await;
        world.complete();
    }
    // The handover of the last change is made with the next block.
    let (trust, all) = led(&world.application.ledger);
    assert_eq!(trust.from_height, u64::from(changes));
    assert_eq!(all.len() as u32, changes - 1);

    let parcel = Parcel::of(&world);
    let joining = world.neighbour(1).await;
    assert!(parcel.is_taken_by(&joining).await);
    let (_, theirs) = led(&joining.application.ledger);
    assert_eq!(theirs.len() as u64, parcel.height.value() - 1);
    assert_eq!(theirs, all[..theirs.len()]);
}

#[tokio::test]
async fn a_network_of_a_few_blocks_has_a_snapshot_for_who_comes_early() {
    let mut world = World::new().await;
    let mut offered = Vec::new();
    for height in 1..=14 {
        let creation = world.creation();
        world.block(height, vec![creation]).await;
        world.complete();
        let snapshots = world.application.snapshots().unwrap().snapshots;
        offered.push(snapshots.first().map_or(0, |one| one.height.value()));
    }
    assert_eq!(offered, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 11, 11]);
    let parcel = Parcel::of(&world);
    let joining = world.neighbour(1).await;
    assert!(parcel.is_taken_by(&joining).await);
}

#[tokio::test]
async fn one_that_has_the_first_blocks_already_takes_the_others() {
    let world = grown().await;
    let parcel = Parcel::of(&world);
    let mut joining = world.neighbour(2).await;
    let first = world.application.ledger.transactions(1, 1).unwrap();
    let first = first.into_iter().map(|placed| placed.entry.bytes.into());
    joining.block(1, first.collect()).await;
    assert_eq!(joining.stored(), world.application.ledger.block(1).unwrap());
    assert!(parcel.is_taken_by(&joining).await);
    assert_eq!(joining.stored().app_hash(), parcel.app_hash);

    // A node with another history keeps it, and reports the conflict.
    let mut another = world.neighbour(2).await;
    let creation = another.creation();
    another.block(1, vec![creation]).await;
    let own = another.stored();
    assert_eq!(
        another.application.offered(&parcel.offer()).await.unwrap(),
        Offered::Accept
    );
    let mut last = None;
    for (chunk, index) in parcel.chunks.iter().zip(0..) {
        let request = ApplySnapshotChunk {
            index,
            chunk: chunk.clone().into(),
            sender: String::new(),
        };
        last = Some(another.application.take(&request).await);
    }
    let halt = last.unwrap().unwrap_err();
    assert!(
        halt.0
            .contains("the ledger's block 1 differs from the network's"),
        "{}",
        halt.0
    );
    assert_eq!(another.stored(), own);
}

#[tokio::test]
async fn a_chunk_with_any_byte_changed_is_refused_and_its_sender_named() {
    let world = grown().await;
    let parcel = Parcel::of(&world);
    let joining = world.neighbour(1).await;
    for (index, chunk) in parcel.chunks.iter().enumerate() {
        for at in (0..chunk.len()).step_by(97).chain([chunk.len() - 1]) {
            let mut tampered = parcel.clone();
            tampered.chunks[index][at] ^= 1;
            assert!(
                !tampered.is_taken_by(&joining).await,
                "chunk {index}, byte {at}"
            );
        }
    }
    assert_eq!(joining.stored().height, 0, "nothing of it is kept");
    assert!(parcel.is_taken_by(&joining).await);
}

/// Forged snapshots with matching hashes. In the first chunk, block 1 has one transaction, block 2 none, block 3 two.
fn lies(parcel: &Parcel, (foreign, extra): (&[u8], &[u8])) -> Vec<(&'static str, Parcel)> {
    let lie = |what, change: &dyn Fn(&mut Chunk)| (what, parcel.with(0, change));
    let more = |what, bytes: &[u8]| {
        lie(what, &|chunk| {
            chunk.blocks[0].transactions.push(bytes.to_vec());
        })
    };
    let known = Chunk::from_cbor(&parcel.chunks[0]).unwrap().blocks[0].transactions[0].clone();
    vec![
        more("one more", extra),
        more("one twice", &known),
        more("another network's", foreign),
        more("what is no transaction", &[0xa0]),
        lie("an earlier time", &|chunk| chunk.blocks[0].time.0 -= 1),
        lie("a later time of all", &|chunk| {
            let blocks = chunk.blocks.iter_mut();
            blocks.for_each(|block| block.time = answers::seconds(time(3)));
        }),
        lie("a transaction left out", &|chunk| {
            chunk.blocks[2].transactions.pop();
        }),
        lie("two the other way round", &|chunk| {
            chunk.blocks[2].transactions.reverse();
        }),
        lie("a block left out", &|chunk| {
            chunk.blocks.remove(1);
        }),
        lie("a handover where none was", &|chunk| {
            chunk.blocks[1].handover = Some(parcel.manifest.note.clone());
        }),
        (
            "a handover that too few signed",
            parcel.with(1, |chunk| {
                let note = chunk.blocks[2].handover.as_mut().unwrap();
                let last = note.trim_end().rfind('\n').unwrap();
                note.truncate(last + 1);
            }),
        ),
        lie("another first height", &|chunk| chunk.first = 2),
    ]
}

#[tokio::test]
async fn a_snapshot_that_is_whole_but_lies_is_refused_and_nothing_of_it_is_kept() {
    let world = grown().await;
    let parcel = Parcel::of(&world);
    let joining = world.neighbour(1).await;
    let (foreign, extra) = (World::new().await.creation(), world.creation());
    for (what, lie) in lies(&parcel, (&foreign, &extra)) {
        assert!(!lie.is_taken_by(&joining).await, "{what}");
    }
    assert_eq!(joining.stored().height, 0);
    assert!(joining.application.notes.newest().is_none());
}

#[tokio::test]
async fn a_snapshot_of_another_state_or_with_too_few_signatures_is_refused() {
    let world = grown().await;
    let parcel = Parcel::of(&world);
    let joining = world.neighbour(1).await;
    let offered = async |offer: OfferSnapshot| joining.application.offered(&offer).await.unwrap();
    let mut other_state = parcel.offer();
    other_state.app_hash = [7; 32].to_vec().try_into().unwrap();
    assert_eq!(offered(other_state).await, Offered::Reject);
    let mut other_height = parcel.offer();
    other_height.snapshot.height = 5_u32.into();
    assert_eq!(offered(other_height).await, Offered::Reject);
    let mut miscounted = parcel.offer();
    miscounted.snapshot.chunks += 1;
    assert_eq!(offered(miscounted).await, Offered::Reject);
    let mut flipped = parcel.offer();
    let mut metadata = flipped.snapshot.metadata.to_vec();
    metadata[30] ^= 1;
    flipped.snapshot.metadata = metadata.into();
    assert_eq!(offered(flipped).await, Offered::Reject);
    let mut newer = parcel.offer();
    newer.snapshot.format = 2;
    assert_eq!(offered(newer).await, Offered::RejectFormat);

    // The state is right, but the last signature is missing.
    let mut unsigned = parcel.clone();
    let note = &mut unsigned.manifest.note;
    let last = note.trim_end().rfind('\n').unwrap();
    note.truncate(last + 1);
    assert!(!unsigned.is_taken_by(&joining).await);
    assert_eq!(joining.stored().height, 0);
}

#[tokio::test]
async fn a_ledger_that_is_too_large_for_a_snapshot_offers_none_and_the_node_goes_on() {
    let mut world = grown().await;
    let chunks = Parcel::of(&world).chunks.len();
    assert!(chunks > 2);
    let cuts = Cuts::with(1 << 20, 3).at_most(chunks - 1);
    world.application.snapshots.cut_into(cuts);
    for _ in 0..2 {
        assert!(world.application.snapshots().unwrap().snapshots.is_empty());
    }
    let next = u32::try_from(world.stored().height).unwrap() + 1;
    let creation = world.creation();
    world.block(next, vec![creation]).await;
    let cuts = Cuts::with(1 << 20, 3).at_most(chunks + 1);
    world.application.snapshots.cut_into(cuts);
    assert_eq!(world.application.snapshots().unwrap().snapshots.len(), 1);
}
