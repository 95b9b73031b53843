//! Several nodes of one registry, read over HTTP: some lie, some are down, some show another history.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use selfsame_anoncreds::cl::revocation::IssuedAtStart;
use selfsame_anoncreds::format::{
    CredentialDefinitionId, IssuerId, Message as _, RevocationRegistryId, RevocationStatusList,
    SchemaId,
};
use selfsame_anoncreds::issuer::{self as anoncreds, NewDefinition, NewRegistry, create_schema};
use selfsame_anoncreds_roles::issuer::{IndexChange, RegistryKeeper, define, open_registry};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, Options};
use selfsame_driver::ErrorKind;
use selfsame_driver::clock::Clock;
use selfsame_ledger::config::Pin;
use selfsame_ledger::remote::Remote;
use selfsame_ledger::{Registry, ServedRegistry, trust_root};
use selfsame_proof::entries::ProvenEntries;
use selfsame_proof::read::TrustRoot;
use selfsame_registry::anoncreds::{Definition, ObjectName, RevocationEntry};
use selfsame_registry::single_use::{Action, Consume};
use selfsame_registry::{
    Content, Identifier, Operation, StateError, StateMachine, StateRead, Transaction,
};

use crate::paper::{BUSY_FOR, History, Lie, Paper, PaperNode, patient_reader, reader, store};

const DAY: u64 = 86_400;
/// The error for a busy node.
const BUSY: ErrorKind = ErrorKind::TooMany {
    retry_after: BUSY_FOR,
};

async fn resolves(remote: &Remote, did: &Did) -> bool {
    let resolution = remote.resolve(did, &Options::default()).await;
    resolution.document.is_some()
}

/// A read that returns the reason for its failure.
async fn asks(remote: &Remote, did: &Did) -> selfsame_driver::Result<()> {
    remote.used(did, &[1; 32]).await.map(drop)
}

#[tokio::test]
async fn a_node_that_lies_is_refused_and_named_and_the_next_one_is_asked() {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    for lie in Lie::ABOUT_OBJECTS {
        let (liar, honest) = (history.node(lie).await, history.node(Lie::None).await);
        let remote = reader(&[&liar, &honest], (&store().await, &paper.clock, None));
        assert!(resolves(&remote, &dids[0]).await, "{lie:?}");
        // A node that has lied is asked last.
        let asked = liar.asked();
        assert!(resolves(&remote, &dids[1]).await, "{lie:?}");
        assert_eq!(liar.asked(), asked, "{lie:?}");

        let alone = reader(&[&liar], (&store().await, &paper.clock, None));
        assert!(!resolves(&alone, &dids[0]).await, "{lie:?}");
        // A proof of absence contains no value to alter and no further object.
        if !matches!(lie, Lie::Value | Lie::Absence | Lie::Further) {
            let refused = asks(&alone, &dids[0]).await.unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Upstream, "{lie:?}");
            assert!(refused.to_string().contains(&liar.origin()), "{refused}");
            assert!(refused.to_string().contains("read-refused"), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_did_is_resolved_with_one_call_whether_it_was_changed_or_not() {
    let paper = Paper::new();
    let ((changed, first), (other, second)) = (paper.newcomer(), paper.newcomer());
    let update = |version| {
        let key = PrivateKey::from_pkcs8(&paper.key_of(&changed)).unwrap();
        let content = Content::of_key("key-1", key.public().clone());
        paper.signed(&changed, version, Operation::UpdateDid { version, content })
    };
    let made = [first, update(2), update(3), second];
    let node = paper.history_of(&made).await.node(Lie::None).await;
    let remote = reader(&[&node], (&store().await, &paper.clock, None));
    remote.genesis().await.unwrap();
    for did in [other, changed] {
        let before = node.asked();
        assert!(resolves(&remote, &did).await);
        assert_eq!(node.asked() - before, 1, "{did}");
    }
}

#[tokio::test]
async fn a_did_is_resolved_by_a_node_that_reads_one_object_at_a_time() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    let node = history.node(Lie::Former).await;
    let remote = reader(&[&node], (&store().await, &paper.clock, None));
    for did in &dids {
        assert!(resolves(&remote, did).await);
    }
}

#[tokio::test]
async fn a_reader_whose_clock_is_slow_is_told_that_it_may_be_wrong() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    let (first, second) = (history.node(Lie::None).await, history.node(Lie::None).await);
    let slow = Clock::default();
    slow.set_back(300);
    let remote = reader(&[&first, &second], (&store().await, &slow, None));
    let refused = asks(&remote, &dids[0]).await.unwrap_err();
    assert!(
        refused.to_string().contains("ahead of the reader's clock"),
        "{refused}"
    );
    assert!(refused.to_string().contains("read-ahead-of-clock"));
    // Once the clock is set right, both are believed again.
    slow.advance(300);
    assert!(resolves(&remote, &dids[0]).await);
}

#[tokio::test]
async fn a_node_that_is_away_is_passed_over_and_asked_again_when_all_are() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    let (first, second) = (history.node(Lie::Down).await, history.node(Lie::None).await);
    let remote = reader(&[&first, &second], (&store().await, &paper.clock, None));
    assert!(resolves(&remote, &dids[0]).await);
    let asked = first.asked();
    assert!(resolves(&remote, &dids[1]).await);
    assert_eq!(first.asked(), asked, "it failed a moment ago");
    second.does(Lie::Down);
    first.does(Lie::None);
    paper.clock.advance(6);
    assert!(resolves(&remote, &dids[0]).await);
}

#[tokio::test]
async fn a_node_that_is_too_busy_is_left_alone_for_as_long_as_it_asks() {
    let paper = Paper::new();
    let (history, dids) = paper.history(1).await;
    let (busy, free) = (history.node(Lie::Busy).await, history.node(Lie::None).await);
    let alone = reader(&[&busy], (&store().await, &paper.clock, None));
    let told = asks(&alone, &dids[0]).await.unwrap_err();
    assert_eq!(told.kind, BUSY);
    let asked = busy.asked();
    let told = asks(&alone, &dids[0]).await.unwrap_err();
    assert!(
        matches!(
            told.kind,
            ErrorKind::Unavailable {
                retry_after: 1..=BUSY_FOR
            }
        ),
        "{told:?}"
    );
    assert_eq!(busy.asked(), asked, "it was not called");
    let both = reader(&[&busy, &free], (&store().await, &paper.clock, None));
    assert!(resolves(&both, &dids[0]).await);
    busy.does(Lie::None);
    paper.clock.advance(BUSY_FOR);
    assert!(resolves(&alone, &dids[0]).await);
}

#[tokio::test]
async fn two_histories_stop_a_reader_until_the_operator_pins_one_beyond_them() {
    let paper = Paper::new();
    let (one, dids) = paper.history(2).await;
    let (other, _) = paper.history(2).await;
    let (one, other) = (one.node(Lie::None).await, other.node(Lie::None).await);
    let store = store().await;
    let remote = reader(&[&one, &other], (&store, &paper.clock, None));
    assert!(
        !resolves(&remote, &dids[0]).await,
        "seen with the first read"
    );
    for remote in [
        remote,
        reader(&[&one], (&store, &paper.clock, None)),
        reader(&[&other], (&store, &paper.clock, None)),
    ] {
        let stopped = asks(&remote, &dids[0]).await.unwrap_err();
        assert!(
            matches!(stopped.kind, ErrorKind::Unavailable { .. }),
            "{stopped:?}"
        );
        assert!(
            stopped.to_string().contains("histories-forked"),
            "{stopped}"
        );
        for node in [&one, &other] {
            assert!(stopped.to_string().contains(&node.origin()), "{stopped}");
        }
    }
    let beyond = TrustRoot {
        from_height: 3,
        ..trust_root(&paper.genesis)
    };
    let (longer, dids) = paper.history(3).await;
    let longer = longer.node(Lie::None).await;
    let pinned = (&store, &paper.clock, Some(Pin::Trust(beyond)));
    assert!(resolves(&reader(&[&longer], pinned), &dids[0]).await);
}

#[tokio::test]
async fn a_checkpoint_that_was_seen_after_two_histories_settles_which_of_them_holds() {
    let paper = Paper::new();
    // As after a restore: the valid history is the shorter one, and no validator has changed.
    let ((old, dids), (restored, others)) = (paper.history(4).await, paper.history(2).await);
    let (one, other) = (old.node(Lie::None).await, restored.node(Lie::None).await);
    let store = store().await;
    let pinned = |seen| {
        Some(Pin::Trust(TrustRoot {
            seen: Some(seen),
            ..trust_root(&paper.genesis)
        }))
    };
    let before = restored.standing();
    let remote = reader(&[&one, &other], (&store, &paper.clock, None));
    assert!(!resolves(&remote, &dids[0]).await);
    // An older pin decides nothing: it may belong to either history.
    let still = reader(&[&other], (&store, &paper.clock, pinned(before)));
    let stopped = asks(&still, &others[0]).await.unwrap_err();
    assert!(
        stopped.to_string().contains("histories-forked"),
        "{stopped}"
    );
    paper.clock.advance(10);
    let decided = pinned(restored.standing());
    let settled = reader(&[&other], (&store, &paper.clock, decided.clone()));
    assert!(resolves(&settled, &others[0]).await);
    // The other history is still a fork.
    paper.clock.advance(10);
    let again = reader(&[&other, &one], (&store, &paper.clock, decided));
    let stopped = asks(&again, &others[0]).await.unwrap_err();
    assert!(
        stopped.to_string().contains("histories-forked"),
        "{stopped}"
    );
}

#[tokio::test]
async fn two_histories_of_different_length_are_seen_too_whichever_is_read() {
    let paper = Paper::new();
    // Logs of one transaction, of a power of two, and of another length, each with a longer log that does not extend
    // it.
    for (shorter, longer) in [(1, 3), (2, 3), (3, 7), (4, 5)] {
        let ((one, dids), (other, others)) =
            (paper.history(shorter).await, paper.history(longer).await);
        // The node with the fork need not prove that its log extends the other's.
        for lie in [Lie::None, Lie::NoConsistency] {
            let (one, other) = (one.node(Lie::None).await, other.node(lie).await);
            for (nodes, did) in [([&one, &other], &dids[0]), ([&other, &one], &others[0])] {
                let store = store().await;
                let remote = reader(&nodes, (&store, &paper.clock, None));
                assert!(!resolves(&remote, did).await, "{shorter}, {longer}");
                let again = reader(&nodes[..1], (&store, &paper.clock, None));
                for remote in [remote, again] {
                    let stopped = asks(&remote, did).await.unwrap_err();
                    assert!(
                        stopped.to_string().contains("histories-forked"),
                        "{stopped}"
                    );
                    for node in nodes {
                        assert!(stopped.to_string().contains(&node.origin()), "{stopped}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_node_that_keeps_its_proofs_back_does_not_keep_others_from_being_compared() {
    let paper = Paper::new();
    let ((one, dids), (other, _)) = (paper.history(3).await, paper.history(2).await);
    let (front, silent, forked) = (
        one.node(Lie::None).await,
        one.node(Lie::Down).await,
        other.node(Lie::None).await,
    );
    // Whichever is asked first, the other is asked half a minute later.
    for nodes in [[&front, &silent, &forked], [&front, &forked, &silent]] {
        let remote = reader(&nodes, (&store().await, &paper.clock, None));
        let first = asks(&remote, &dids[0]).await;
        paper.clock.advance(31);
        let second = asks(&remote, &dids[0]).await;
        let stopped = [first, second].into_iter().find_map(Result::err).unwrap();
        assert!(
            stopped.to_string().contains("histories-forked"),
            "{stopped}"
        );
    }
}

#[tokio::test]
async fn a_history_that_changes_after_a_restart_is_a_fork_too() {
    let paper = Paper::new();
    let ((one, dids), (other, _)) = (paper.history(2).await, paper.history(2).await);
    let (one, other) = (one.node(Lie::None).await, other.node(Lie::None).await);
    let store = store().await;
    let before = reader(&[&one], (&store, &paper.clock, None));
    assert!(resolves(&before, &dids[0]).await);
    let after = reader(&[&other], (&store, &paper.clock, None));
    let stopped = asks(&after, &dids[0]).await.unwrap_err();
    assert!(
        stopped.to_string().contains("histories-forked"),
        "{stopped}"
    );
}

#[tokio::test]
async fn two_histories_are_seen_by_who_reads_the_log_too() {
    let paper = Paper::new();
    let ((one, _), (other, _)) = (paper.history(2).await, paper.history(2).await);
    let (one, other) = (one.node(Lie::None).await, other.node(Lie::None).await);
    // Two nodes, and one node that changes its history.
    let (both, changed) = (store().await, store().await);
    let both = reader(&[&one, &other], (&both, &paper.clock, None));
    let before = reader(&[&one], (&changed, &paper.clock, None));
    assert_eq!(before.entries(1, 2).await.unwrap().len(), 2);
    let after = reader(&[&other], (&changed, &paper.clock, None));
    for remote in [both, after] {
        for _ in 0..2 {
            let stopped = remote.entries(1, 2).await.unwrap_err();
            assert_eq!(stopped.kind, ErrorKind::Unavailable { retry_after: 3_600 });
            assert!(
                stopped.to_string().contains("histories-forked"),
                "{stopped}"
            );
        }
    }
}

#[tokio::test]
async fn a_node_behind_or_without_a_proof_is_no_evidence() {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    let front = history.node(Lie::None).await;
    for lie in [Lie::Behind, Lie::NoConsistency] {
        let other = history.node(lie).await;
        let remote = reader(&[&front, &other], (&store().await, &paper.clock, None));
        assert!(resolves(&remote, &dids[0]).await, "{lie:?}");
        assert!(asks(&remote, &dids[0]).await.is_ok(), "{lie:?}");
    }
    // A node whose proof fails is no fork either, however far apart the logs are.
    front.does(Lie::NoConsistency);
    let behind = history.node(Lie::Behind).await;
    let remote = reader(&[&front, &behind], (&store().await, &paper.clock, None));
    assert!(resolves(&remote, &dids[0]).await);
}

#[tokio::test]
async fn what_was_seen_survives_a_restart_and_nothing_older_is_believed_after_it() {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    let (node, store) = (history.node(Lie::None).await, store().await);
    let before = reader(&[&node], (&store, &paper.clock, None));
    assert!(resolves(&before, &dids[2]).await);
    node.does(Lie::Behind);
    let after = reader(&[&node], (&store, &paper.clock, None));
    let older = asks(&after, &dids[2]).await.unwrap_err();
    assert!(
        matches!(older.kind, ErrorKind::Unavailable { .. }),
        "{older:?}"
    );
    assert!(older.to_string().contains("nodes-behind"), "{older}");
    let older = after.entries(1, 3).await.unwrap_err();
    assert!(older.to_string().contains("nodes-behind"), "{older}");
    node.does(Lie::None);
    assert!(resolves(&after, &dids[2]).await);
}

#[tokio::test]
async fn another_network_than_the_pinned_one_is_refused() {
    let (paper, others) = (Paper::new(), Paper::new());
    let ((history, dids), (foreign, _)) = (paper.history(1).await, others.history(1).await);
    let (own, foreign) = (history.node(Lie::None).await, foreign.node(Lie::None).await);
    for pin in [
        Pin::Network(paper.genesis.network().to_string()),
        Pin::Trust(trust_root(&paper.genesis)),
    ] {
        let pinned = |nodes| (nodes, Some(pin.clone()));
        let (nodes, pin) = pinned([&foreign, &own]);
        let both = reader(&nodes, (&store().await, &paper.clock, pin));
        assert!(resolves(&both, &dids[0]).await);
        let (nodes, pin) = pinned([&foreign, &foreign]);
        let alone = reader(&nodes, (&store().await, &paper.clock, pin));
        let refused = asks(&alone, &dids[0]).await.unwrap_err();
        assert!(
            refused.to_string().contains("network-not-pinned"),
            "{refused}"
        );
        assert!(refused.to_string().contains(&foreign.origin()), "{refused}");
    }
}

#[tokio::test]
async fn a_network_that_stands_still_is_read_as_of_its_last_checkpoint_for_as_long_as_the_operator_says()
 {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    let last = paper.clock.now();
    let nodes = [
        history.node(Lie::Down).await,
        history.node(Lie::StaleCheckpoint).await,
        history.node(Lie::Still).await,
        history.node(Lie::Still).await,
    ];
    let [down, older, newest, second] = [&nodes[0], &nodes[1], &nodes[2], &nodes[3]];
    let all = [down, older, newest, second];
    let store = store().await;
    let remote = patient_reader(&all, (&store, &paper.clock, None), DAY);
    for hours in [0, 1, 22] {
        paper.clock.advance(hours * 3_600);
        let resolution = remote.resolve(&dids[2], &Options::default()).await;
        assert!(resolution.document.is_some(), "{resolution:?}");
        let as_of = resolution.metadata.as_of.unwrap();
        assert_eq!(
            (as_of.height, as_of.time),
            (3, last),
            "the newest of what they show"
        );
    }
    // A read of a use also returns the age of the answer.
    let (used, as_of) = remote.used(&dids[2], &[1; 32]).await.unwrap();
    assert_eq!((used, as_of), (None, last));
    // The log and a DID's history can be read too.
    let entries = remote.entries(1, 10).await.unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(remote.history(&dids[2]).await.unwrap()[0].seq_no, 3);
    for lie in [Lie::StillValue, Lie::StillProof] {
        newest.does(lie);
        let alone = patient_reader(&[newest], (&store, &paper.clock, None), DAY);
        let refused = alone.entries(1, 3).await.unwrap_err();
        assert!(
            refused.to_string().contains("not proven"),
            "{lie:?}: {refused}"
        );
        assert!(refused.to_string().contains(&newest.origin()), "{refused}");
        let honest = history.node(Lie::Still).await;
        let both = [newest, &honest, second];
        let both = patient_reader(&both, (&store, &paper.clock, None), DAY);
        assert_eq!(both.entries(1, 3).await.unwrap().len(), 3, "{lie:?}");
    }
    newest.does(Lie::Still);

    paper.clock.advance(2 * 3_600);
    let refused = asks(&remote, &dids[2]).await.unwrap_err();
    assert!(refused.to_string().contains("rule: age"), "{refused}");
    let refused = remote.entries(1, 10).await.unwrap_err();
    assert!(refused.to_string().contains("rule: age"), "{refused}");
    // As soon as one node is up to date again, its answer counts.
    older.does(Lie::None);
    let resolution = remote.resolve(&dids[2], &Options::default()).await;
    assert!(resolution.metadata.as_of.unwrap().time >= last.plus(25 * 3_600));
}

#[tokio::test]
async fn one_node_alone_is_believed_to_stand_still_for_ten_minutes_even_if_others_are_down() {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    let nodes = [
        history.node(Lie::Still).await,
        history.node(Lie::Down).await,
        history.node(Lie::Still).await,
    ];
    let [still, down, other] = [&nodes[0], &nodes[1], &nodes[2]];
    let stores = [store().await, store().await, store().await];
    let reads = |nodes: &[&PaperNode], place: usize| {
        patient_reader(nodes, (&stores[place], &paper.clock, None), DAY)
    };
    // The same address twice counts once.
    let alone = [reads(&[still, still], 0), reads(&[still, down], 1)];
    let both = reads(&[still, down, other], 2);
    paper.clock.advance(590);
    for remote in alone.iter().chain([&both]) {
        assert!(resolves(remote, &dids[2]).await);
    }
    paper.clock.advance(20);
    for remote in &alone {
        let refused = asks(remote, &dids[2]).await.unwrap_err();
        assert!(refused.to_string().contains("rule: age"), "{refused}");
    }
    assert!(resolves(&both, &dids[2]).await);
    // Only nodes that show it now count: the other one is down since then.
    other.does(Lie::Down);
    paper.clock.advance(60);
    let refused = asks(&both, &dids[2]).await.unwrap_err();
    assert!(refused.to_string().contains("rule: age"), "{refused}");
}

#[tokio::test]
async fn resolving_says_why_it_fails_and_when_to_come_back() {
    let paper = Paper::new();
    let ((one, dids), (other, _)) = (paper.history(2).await, paper.history(2).await);
    let (one, other) = (one.node(Lie::None).await, other.node(Lie::None).await);
    let remote = reader(&[&one, &other], (&store().await, &paper.clock, None));
    let stopped = remote.resolve(&dids[0], &Options::default()).await.metadata;
    assert!(stopped.reason.unwrap().contains("histories-forked"));
    assert_eq!(stopped.retry_after, Some(3_600));

    one.does(Lie::Down);
    let away = reader(&[&one], (&store().await, &paper.clock, None));
    let failed = away.resolve(&dids[0], &Options::default()).await.metadata;
    assert!(failed.reason.unwrap().contains(&one.origin()));
}

#[tokio::test]
async fn what_a_node_says_is_told_rather_than_that_another_is_away() {
    let paper = Paper::new();
    let (history, dids) = paper.history(1).await;
    let (busy, down) = (history.node(Lie::Busy).await, history.node(Lie::Down).await);
    let remote = reader(&[&busy, &down], (&store().await, &paper.clock, None));
    let told = asks(&remote, &dids[0]).await.unwrap_err();
    assert_eq!(told.kind, BUSY);
    assert!(told.to_string().contains(&busy.origin()), "{told}");
}

#[tokio::test]
async fn transactions_are_believed_for_their_place_in_the_signed_log_alone() {
    let paper = Paper::new();
    let (history, dids) = paper.history(5).await;
    let honest = history.node(Lie::None).await;
    let remote = reader(&[&honest], (&store().await, &paper.clock, None));
    let entries = remote.entries(4, 100).await.unwrap();
    let numbers: Vec<u64> = entries.iter().map(|entry| entry.seq_no).collect();
    assert_eq!(numbers, [4, 5], "what is beyond the log is left out");
    assert_eq!(entries[0].author, dids[3].to_string());
    assert_eq!(entries[0].unproven, ["height", "time"]);
    // A DID's history has receipts in the state, which also prove height and time.
    let made = remote.history(&dids[2]).await.unwrap();
    assert_eq!((made.len(), made[0].seq_no, made[0].height), (1, 3, 3));
    assert!(made[0].unproven.is_empty());
    assert!(
        made[0].time < entries[0].time,
        "not what the node says of it"
    );

    // Transactions come without further objects.
    let lies = Lie::ABOUT_OBJECTS.into_iter();
    for lie in lies.filter(|lie| !matches!(lie, Lie::Further)) {
        let liar = history.node(lie).await;
        let alone = reader(&[&liar], (&store().await, &paper.clock, None));
        let refused = alone.entries(1, 3).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Upstream, "{lie:?}");
        assert!(refused.to_string().contains(&liar.origin()), "{refused}");
        let both = reader(&[&liar, &honest], (&store().await, &paper.clock, None));
        assert_eq!(both.entries(1, 3).await.unwrap().len(), 3, "{lie:?}");
        assert_eq!(both.history(&dids[0]).await.unwrap().len(), 1, "{lie:?}");
    }
}

#[tokio::test]
async fn what_a_node_acknowledges_is_believed_once_it_proves_that_the_log_has_it() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    let (written, (_, never)) = (history.transaction(2), paper.newcomer());
    for lie in [Lie::Acknowledges, Lie::AcknowledgesBeyond] {
        let (liar, honest) = (history.node(lie).await, history.node(Lie::None).await);
        let alone = reader(&[&liar], (&store().await, &paper.clock, None));
        let refused = alone.submit(&never).await.unwrap_err();
        // This is not a refusal: the sender keeps the transaction and sends it again.
        let again = ErrorKind::Unavailable { retry_after: 2 };
        assert_eq!(refused.kind, again, "{lie:?}: {refused}");
        assert!(
            refused.to_string().contains("acknowledgement-unproven"),
            "{refused}"
        );
        assert!(refused.to_string().contains(&liar.origin()), "{refused}");
        // Reads are not affected.
        assert!(asks(&alone, &dids[0]).await.is_ok(), "{lie:?}");

        let both = reader(&[&liar, &honest], (&store().await, &paper.clock, None));
        assert!(both.submit(&written).await.is_err(), "{lie:?}");
        let receipt = both.submit(&written).await.unwrap();
        assert_eq!((receipt.seq_no, receipt.height), (2, 2));
        assert_eq!(receipt.tx_hash, written.hash());
    }
}

/// A node's ways to refuse a transaction.
const REFUSING: [Lie; 4] = [
    Lie::RefusesVersion,
    Lie::RefusesUse,
    Lie::RefusesSignature,
    Lie::RefusesNonce,
];

/// A DID whose key was changed in the last block, that change, and the transaction of another change.
async fn changed(paper: &Arc<Paper>) -> (Arc<History>, Transaction, Transaction) {
    let (did, creation) = paper.newcomer();
    let next = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let update = |version| Operation::UpdateDid {
        version,
        content: Content::of_key("key-2", next.public().clone()),
    };
    let change = paper.signed(&did, 7, update(2));
    let other = paper.signed(&did, 8, update(2));
    let history = paper.history_of(&[creation, change.clone()]).await;
    (history, change, other)
}

#[tokio::test]
async fn a_node_that_denies_a_change_which_the_registry_has_takes_no_did_away() {
    let paper = Paper::new();
    let (history, change, _) = changed(&paper).await;
    for lie in REFUSING {
        let (liar, honest) = (history.node(lie).await, history.node(Lie::None).await);
        for nodes in [&[&liar][..], &[&liar, &honest], &[&liar, &liar]] {
            let remote = reader(nodes, (&store().await, &paper.clock, None));
            let receipt = remote.submit(&change).await.unwrap();
            assert_eq!(
                (receipt.seq_no, receipt.tx_hash),
                (2, change.hash()),
                "{lie:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_refusal_that_the_state_proves_is_final_whatever_the_node_says() {
    let paper = Paper::new();
    let (history, _, other) = changed(&paper).await;
    for lie in REFUSING {
        let node = history.node(lie).await;
        let remote = reader(&[&node], (&store().await, &paper.clock, None));
        let refused = remote.submit(&other).await.unwrap_err();
        assert_eq!(refused.code, Some("wrong_version"), "{lie:?}: {refused}");
        assert!(refused.is_refusal());
    }
}

#[tokio::test]
async fn a_refusal_that_nothing_proves_is_not_believed_of_one_node_where_there_are_others() {
    let paper = Paper::new();
    let (history, _) = paper.history(1).await;
    let never = paper.newcomer().1;
    for lie in REFUSING {
        let (liar, other) = (history.node(lie).await, history.node(Lie::None).await);
        // The other node can't be written to now, and does not contradict the refusal.
        let both = reader(&[&liar, &other], (&store().await, &paper.clock, None));
        let refused = both.submit(&never).await.unwrap_err();
        assert!(!refused.is_refusal(), "{lie:?}: {refused}");
        assert!(
            refused.to_string().contains("refusal-unproven"),
            "{refused}"
        );
        assert!(refused.to_string().contains(&liar.origin()), "{refused}");
        // A refusal that the state could prove is not believed even of all nodes; one that it could not is believed of
        // two.
        other.does(lie);
        paper.clock.advance(60);
        let provable = [Lie::RefusesVersion, Lie::RefusesUse].contains(&lie);
        let refused = both.submit(&never).await.unwrap_err();
        assert_eq!(refused.is_refusal(), !provable, "{lie:?}: {refused}");
    }
    // No refusal is believed while no node proves the state.
    let liar = history.node(Lie::RefusesAndHides).await;
    let remote = reader(&[&liar], (&store().await, &paper.clock, None));
    let refused = remote.submit(&never).await.unwrap_err();
    assert!(!refused.is_refusal(), "{refused}");
    assert!(refused.to_string().contains("refusal-unread"), "{refused}");
}

#[tokio::test]
async fn a_node_that_is_named_twice_is_believed_once() {
    let paper = Paper::new();
    let (history, _) = paper.history(1).await;
    let never = paper.newcomer().1;
    for lie in [Lie::RefusesSignature, Lie::RefusesNonce] {
        let (liar, other) = (history.node(lie).await, history.node(Lie::None).await);
        let nodes = [&liar, &liar, &other];
        let remote = reader(&nodes, (&store().await, &paper.clock, None));
        let refused = remote.submit(&never).await.unwrap_err();
        assert!(!refused.is_refusal(), "{lie:?}: {refused}");
        assert!(
            refused.to_string().contains("refusal-unproven"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn what_a_node_says_to_a_read_refuses_no_transaction() {
    let paper = Paper::new();
    let (history, dids) = paper.history(1).await;
    let never = paper.newcomer().1;
    let liar = history.node(Lie::RefusesReads).await;
    let given = (&store().await, &paper.clock, None);
    // Before the genesis is known, and after.
    let remote = reader(&[&liar], given);
    for _ in 0..2 {
        let refused = remote.submit(&never).await.unwrap_err();
        assert!(!refused.is_refusal(), "{refused}");
        assert_eq!(refused.code, None, "{refused}");
        assert!(!asks(&remote, &dids[0]).await.unwrap_err().is_refusal());
        liar.does(Lie::None);
        paper.clock.advance(60);
        remote.genesis().await.unwrap();
        liar.does(Lie::RefusesReads);
    }
}

#[tokio::test]
async fn a_use_that_took_place_is_denied_by_no_single_node() {
    let paper = Paper::new();
    let ((issuer, creation), (second, other)) = (paper.newcomer(), paper.newcomer());
    let id = Identifier::of_did(&issuer, &paper.genesis.network()).unwrap();
    let consume = |by: &Did| {
        let operation = Operation::Consume(Consume {
            issuer: id,
            kind: "prescription".to_owned(),
            handle: [1; 32],
            action: Action::Consume,
            delegation: None,
        });
        paper.signed(by, 1, operation)
    };
    let (own, late) = (consume(&issuer), consume(&second));
    let history = paper.history_of(&[creation, other, own.clone()]).await;
    let liar = history.node(Lie::RefusesUse).await;
    let remote = reader(&[&liar], (&store().await, &paper.clock, None));
    let receipt = remote.submit(&own).await.unwrap();
    assert_eq!((receipt.seq_no, receipt.tx_hash), (3, own.hash()));
    let refused = remote.submit(&late).await.unwrap_err();
    assert_eq!(refused.code, Some("already_used"), "{refused}");
}

#[tokio::test]
async fn an_answer_with_proofs_has_one_encoding() {
    let paper = Paper::new();
    let (history, _) = paper.history(3).await;
    let bytes = history.log(&[1, 3], Lie::None).to_bytes();
    let read = ProvenEntries::from_bytes(&bytes).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    assert_eq!(read.entries.len(), 2);
    for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
        assert!(ProvenEntries::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    assert!(ProvenEntries::from_bytes(&[bytes, vec![0]].concat()).is_err());
}

/// The transactions that publish a definition with a revocation registry of 60 places, and revoke the first `count` of
/// them one by one; and the identifiers of schema, definition and registry.
fn anoncreds_history(paper: &Paper, did: &Did, count: u32) -> (Vec<Transaction>, [String; 3]) {
    let ctx = paper.clock.clone().ctx();
    let issuer = IssuerId::new(did.as_str()).unwrap();
    let schema = create_schema("donor", "1.0", &issuer, &["name"]).unwrap();
    let schema_id = ObjectName::schema(did, "donor", "1.0").unwrap().to_string();
    let new = NewDefinition {
        schema_id: &SchemaId::new(schema_id.as_str()).unwrap(),
        schema: &schema,
        issuer_id: &issuer,
        tag: "default",
        revocable: true,
    };
    let made = define(&new, &ctx).unwrap();
    let cred_def_id = ObjectName::definition(did, &schema_id, "default").unwrap();
    let new = NewRegistry {
        cred_def_id: &CredentialDefinitionId::new(cred_def_id.to_string()).unwrap(),
        tag: "1",
        size: 60,
        tails_location: "https://issuer.example/tails",
    };
    let definition = made.definition.to_json().unwrap();
    let issuer = anoncreds::Issuer::new(made.definition, &made.private).unwrap();
    let opened = open_registry(&issuer, &new, &ctx).unwrap();
    let registry = ObjectName::registry(did, &cred_def_id.to_string(), "1").unwrap();
    let registry = registry.to_string();
    let mut operations = vec![
        Operation::Schema {
            json: schema.to_json().unwrap(),
        },
        Operation::CredentialDefinition(Definition {
            json: definition,
            successor_of: None,
            valid_until: None,
        }),
        Operation::RevocationRegistry {
            json: opened.definition.to_json().unwrap(),
        },
    ];
    let keeper = RegistryKeeper {
        issuer,
        definition: opened.definition,
        private: opened.private,
    };
    operations.extend(one_by_one(&keeper, &registry, count));
    let signed = operations.into_iter().zip(2..);
    let signed = signed.map(|(operation, nonce)| paper.signed(did, nonce, operation));
    (
        signed.collect(),
        [schema_id, cred_def_id.to_string(), registry],
    )
}

/// The first entry of a registry, and those that revoke its first `count` places one by one.
fn one_by_one(keeper: &RegistryKeeper, registry: &str, count: u32) -> Vec<Operation> {
    let id = RevocationRegistryId::new(registry).unwrap();
    let mut list = keeper.first_list(&id, IssuedAtStart::ByDefault, 1).unwrap();
    let text = |list: &RevocationStatusList| {
        let json = serde_json::to_value(list).unwrap();
        json["currentAccumulator"].as_str().unwrap().to_owned()
    };
    let (mut before, mut operations) = (None, Vec::new());
    for revoked in std::iter::once(Vec::new()).chain((1..=count).map(|place| vec![place])) {
        let change = IndexChange {
            revoked: revoked.iter().copied().collect(),
            issued: BTreeSet::new(),
            timestamp: 1,
        };
        list = keeper.next_list(&list, change).unwrap().list;
        let after = text(&list);
        operations.push(Operation::RevocationEntry(RevocationEntry {
            registry: registry.to_owned(),
            before: before.replace(after.clone()),
            after,
            issued: Vec::new(),
            revoked,
        }));
    }
    operations
}

/// What a reader reads in the present state.
async fn read<T: Send>(
    remote: &Remote,
    read: impl Fn(&StateMachine, &dyn StateRead) -> Result<T, StateError> + Send + Sync,
) -> selfsame_driver::Result<T> {
    let found = Mutex::new(None);
    let reading = |machine: &StateMachine, state: &dyn StateRead| {
        *found.lock().unwrap() = Some(read(machine, state)?);
        Ok(())
    };
    remote.read_state(&reading).await?;
    Ok(found.into_inner().unwrap().unwrap())
}

#[tokio::test]
async fn anoncreds_objects_are_proven_and_so_is_what_was_revoked_many_entries_ago() {
    let paper = Paper::new();
    let (did, created) = paper.newcomer();
    let (published, [schema, definition, registry]) = anoncreds_history(&paper, &did, 40);
    let made: Vec<_> = std::iter::once(created).chain(published).collect();
    let apart = Paper::seconds_apart(made.len() as u64);
    let history = paper.history_of(&made).await;
    let node = history.node(Lie::None).await;
    let remote = reader(&[&node], (&store().await, &paper.clock, None));

    let schema_of =
        async |id: &str| read(&remote, |machine, state| machine.schema(state, id)).await;
    let found = schema_of(&schema).await.unwrap().unwrap();
    assert!(found.json.contains("donor"));
    assert_eq!(schema_of(&definition).await.unwrap(), None);
    assert_eq!(schema_of(&format!("{schema}0")).await.unwrap(), None);
    let found = read(&remote, |machine, state| {
        machine.credential_definition(state, &definition)
    });
    assert_eq!(found.await.unwrap().unwrap().succeeded_by, None);
    let found = read(&remote, |machine, state| {
        machine.revocation_registry(state, &registry)
    });
    assert_eq!(found.await.unwrap().unwrap().places, 60);

    let revoked = async |remote: &Remote, at: Option<UnixTime>| {
        read(remote, |machine, state| {
            machine.revoked(state, &registry, at)
        })
        .await
    };
    let now = revoked(&remote, None).await.unwrap().unwrap();
    assert_eq!((now.version, now.revoked[0]), (41, 0b0111_1111));
    let early = now.receipt.time.minus(38 * apart);
    let then = revoked(&remote, Some(early)).await.unwrap().unwrap();
    assert_eq!((then.version, then.revoked[0]), (3, 0b0110_0000));
    assert_eq!(revoked(&remote, Some(UnixTime(1))).await.unwrap(), None);

    let lie = history.node(Lie::Value).await;
    let deceived = reader(&[&lie], (&store().await, &paper.clock, None));
    assert!(revoked(&deceived, None).await.is_err());
}
