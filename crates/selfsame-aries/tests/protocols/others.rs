//! The smaller protocols: features, text, revocation, mediation, pickup, rotation.

use proptest::prelude::*;
use selfsame_aries::advance::Move::{Receives, Sends};
use selfsame_aries::advance::{Advance, Footing, Notice, Outset, Problem};
use selfsame_aries::basic_message::{self, BasicInput, BasicMessage};
use selfsame_aries::coordinate_mediation::{
    self, KeyAction, KeyPage, KeyResult, KeyUpdate, KeyUpdated, MediationAct, MediationInput,
    MediationMessage, MediationRecord, MediationState, PageLeft,
};
use selfsame_aries::did_rotate::{
    self, RotateAct, RotateInput, RotateKind, RotateRefusal, RotateRole, RotateState,
};
use selfsame_aries::discover_features::{self, DiscoveryInput, DiscoveryState, FeatureQuery};
use selfsame_aries::message_pickup::{
    self, Delivered, PickupAct, PickupInput, PickupMessage, PickupSession, Queue, QueueStatus,
};
use selfsame_aries::protocol;
use selfsame_aries::revocation_notification::{
    self, RevocationInput, RevocationMessage, RevokedCredential,
};
use selfsame_aries::wire::Incoming;
use selfsame_didcomm::message::{MessageType, ReturnRoute, Semver};

use super::world::{PREFIXES, ctx, key, only, opening, over_the_wire, stored};

fn open(protocol: &str, major: u16) -> Outset {
    opening(&MessageType::new(protocol, Semver::new(major, 0), "x"))
}

#[test]
fn features_are_asked_and_answered_in_both_versions_with_both_prefixes() {
    for (major, prefix) in [1, 2].into_iter().zip(PREFIXES) {
        let mut open = open("discover-features", major);
        open.kind.prefix = prefix;
        let queries = vec![FeatureQuery {
            feature_type: "protocol".to_owned(),
            pattern: "https://didcomm.org/present-proof/*".to_owned(),
        }];
        let given =
            |footing: Footing<'_, _>, input, n| discover_features::step(footing, &input, &ctx(n));
        let asked = given(Footing::New(&open), DiscoveryInput::Ask(queries), 1).unwrap();
        let received = |advance: &Advance<_>| DiscoveryInput::Received {
            message: over_the_wire(&only(advance).message),
            features: protocol::features(),
        };
        let answered = given(Footing::New(&open), received(&asked), 2).unwrap();
        let name = ["disclose", "disclosures"][usize::from(major) - 1];
        assert_eq!(only(&answered).message.kind.name, name);
        assert_eq!(only(&answered).message.kind.prefix, open.kind.prefix);
        let known = given(
            Footing::Known(&stored(&asked.record)),
            received(&answered),
            3,
        )
        .unwrap();
        assert_eq!(known.record.state, DiscoveryState::Done);
        let ids: Vec<&str> = known
            .record
            .disclosures
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        assert_eq!(
            ids,
            [
                "https://didcomm.org/present-proof/2.0",
                "https://didcomm.org/present-proof/1.0"
            ]
        );
        assert_eq!(known.record.disclosures[0].roles, ["verifier", "prover"]);
        assert!(
            given(Footing::Known(&known.record), received(&answered), 4)
                .unwrap()
                .is_repeated
        );
        assert!(
            given(Footing::Known(&answered.record), received(&asked), 5)
                .unwrap()
                .is_repeated
        );
    }
}

#[test]
fn a_text_is_sent_with_its_time_and_language() {
    let input = BasicInput::Send {
        content: "Your hovercraft is full of eels.".to_owned(),
        locale: Some("en".to_owned()),
    };
    let sent = basic_message::step(&open("basicmessage", 1), &input, &ctx(1));
    let read: Incoming<BasicMessage> = over_the_wire(&only(&sent).message);
    let BasicMessage::Text(text) = &read.content;
    assert_eq!(text.sent_time.as_deref(), Some("2023-11-14T22:13:20Z"));
    assert_eq!(text.locale.as_deref(), Some("en"));
    let heard = basic_message::step(
        &open("basicmessage", 1),
        &BasicInput::Received(read),
        &ctx(2),
    );
    assert_eq!(heard.tell, [Notice::Received("message")]);
}

#[test]
fn a_revocation_names_its_credential_in_both_versions() {
    let registry = RevokedCredential::Registry {
        format: "indy-anoncreds".to_owned(),
        rev_reg_id:
            "AsB27X6KRrJFsqZ3unNAH6:4:AsB27X6KRrJFsqZ3unNAH6:3:cl:48187:default:CL_ACCUM:3b24"
                .to_owned(),
        cred_rev_id: "1".to_owned(),
    };
    let thread = RevokedCredential::Thread("thread-1".to_owned());
    for (major, credential) in [(2, registry.clone()), (1, registry), (1, thread)] {
        let input = RevocationInput::Send {
            credential: credential.clone(),
            comment: Some("lost".to_owned()),
        };
        let sent =
            revocation_notification::step(&open("revocation_notification", major), &input, &ctx(1));
        let read: Incoming<RevocationMessage> = over_the_wire(&only(&sent).message);
        let RevocationMessage::Revoke {
            credential: read, ..
        } = read.content;
        assert_eq!(read, credential);
    }
}

fn mediated(
    record: &MediationRecord,
    input: &MediationInput,
    n: usize,
) -> Result<Advance<MediationRecord>, Problem> {
    coordinate_mediation::step(Footing::Known(&stored(record)), input, &ctx(n))
}

fn told(advance: &Advance<MediationRecord>) -> MediationInput {
    MediationInput::Received(over_the_wire(&only(advance).message))
}

/// Client and server after the request.
fn mediation() -> (Advance<MediationRecord>, Advance<MediationRecord>) {
    let open = open("coordinate-mediation", 1);
    let input = MediationInput::Act(MediationAct::Request);
    let client = coordinate_mediation::step(Footing::New(&open), &input, &ctx(1)).unwrap();
    let server = coordinate_mediation::step(Footing::New(&open), &told(&client), &ctx(2)).unwrap();
    (client, server)
}

fn grant() -> MediationInput {
    MediationInput::Act(MediationAct::Grant {
        endpoint: "http://mediators-r-us.com".to_owned(),
        routing_keys: vec![key(0)],
    })
}

#[test]
fn a_mediator_grants_and_learns_the_keys() {
    let (client, server) = mediation();
    let granted = mediated(&server.record, &grant(), 3).unwrap();
    assert!(mediated(&granted.record, &grant(), 4).unwrap().is_repeated);
    let client = mediated(&client.record, &told(&granted), 5).unwrap();
    assert_eq!(client.record.state, MediationState::Granted);
    assert_eq!(
        (
            client.record.endpoint.as_deref(),
            &client.record.routing_keys
        ),
        (Some("http://mediators-r-us.com"), &vec![key(0)])
    );
    let written = &only(&granted).message.body["routing_keys"][0];
    assert_eq!(*written, key(0).to_did().to_string());

    let update = KeyUpdate {
        key: key(1),
        action: KeyAction::Add,
    };
    let asked = mediated(
        &client.record,
        &MediationInput::Act(MediationAct::Update(vec![update.clone()])),
        6,
    )
    .unwrap();
    let heard = mediated(&granted.record, &told(&asked), 7).unwrap();
    assert_eq!(heard.tell, [Notice::Received("keylist-update")]);
    assert!(
        mediated(&heard.record, &told(&asked), 8)
            .unwrap()
            .is_repeated
    );
    let thread_id = only(&asked).message.id.clone();
    let updated = vec![KeyUpdated {
        update,
        result: KeyResult::Success,
    }];
    let answer = MediationInput::Act(MediationAct::Updated {
        thread_id: thread_id.clone(),
        updated,
    });
    let answered = mediated(&heard.record, &answer, 9).unwrap();
    assert_eq!(only(&answered).message.thread.thid, Some(thread_id.clone()));
    let client = mediated(&client.record, &told(&answered), 10).unwrap();
    assert_eq!(client.tell, [Notice::Received("keylist-update-response")]);
}

#[test]
fn a_mediator_lists_the_keys_that_it_is_asked_for() {
    let (client, server) = mediation();
    let heard = mediated(&server.record, &grant(), 3).unwrap();
    let client = mediated(&client.record, &told(&heard), 5).unwrap();
    let page = KeyPage {
        limit: 30,
        offset: 0,
    };
    let asked = mediated(
        &client.record,
        &MediationInput::Act(MediationAct::Query(Some(page))),
        11,
    )
    .unwrap();
    let heard = mediated(&heard.record, &told(&asked), 12).unwrap();
    let left = Some(PageLeft {
        count: 1,
        offset: 0,
        remaining: 0,
    });
    let thread_id = only(&asked).message.id.clone();
    let keys = MediationInput::Act(MediationAct::Keys {
        thread_id,
        keys: vec![key(1)],
        left,
    });
    let listed = mediated(&heard.record, &keys, 13).unwrap();
    let read: Incoming<MediationMessage> = over_the_wire(&only(&listed).message);
    assert_eq!(
        read.content,
        MediationMessage::Keys {
            keys: vec![key(1)],
            left
        }
    );
}

#[test]
fn a_mediator_that_denies_learns_no_keys() {
    let (client, server) = mediation();
    let deny = MediationInput::Act(MediationAct::Deny);
    let denied = mediated(&server.record, &deny, 3).unwrap();
    assert!(mediated(&denied.record, &deny, 4).unwrap().is_repeated);
    let client = mediated(&client.record, &told(&denied), 5).unwrap();
    assert_eq!(client.record.state, MediationState::Denied);
    for act in [
        MediationAct::Update(Vec::new()),
        MediationAct::Query(None),
        MediationAct::Request,
    ] {
        assert!(mediated(&client.record, &MediationInput::Act(act), 6).is_err());
    }
    assert!(mediated(&denied.record, &grant(), 7).is_err());
}

fn line() -> (PickupSession, Outset) {
    (PickupSession::default(), open("messagepickup", 2))
}

/// What the mediator answers to this act of the recipient.
fn picked(act: PickupAct, queue: Queue) -> (Advance<PickupSession>, PickupMessage) {
    let (session, open) = line();
    let asked = message_pickup::step(session, &open, &PickupInput::Act(act), &ctx(1)).unwrap();
    assert_eq!(only(&asked).message.return_route, Some(ReturnRoute::All));
    let message = over_the_wire(&only(&asked).message);
    let answered = message_pickup::step(
        session,
        &open,
        &PickupInput::Asked { message, queue },
        &ctx(2),
    )
    .unwrap();
    assert_eq!(
        only(&answered).message.thread.thid,
        Some(only(&asked).message.id.clone())
    );
    let answer: Incoming<PickupMessage> = over_the_wire(&only(&answered).message);
    assert!(
        message_pickup::step(
            session,
            &open,
            &PickupInput::Answered(answer.clone()),
            &ctx(3)
        )
        .is_ok()
    );
    (answered, answer.content)
}

#[test]
fn messages_wait_until_they_are_confirmed() {
    let key = Some("did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH".to_owned());
    let queue = |count: u64| Queue {
        status: QueueStatus {
            message_count: count,
            ..QueueStatus::default()
        },
        waiting: (0..count)
            .map(|n| Delivered {
                id: n.to_string(),
                envelope: b"{}".to_vec(),
            })
            .collect(),
        is_persistent: false,
    };
    let (_, status) = picked(
        PickupAct::AskStatus {
            recipient_key: key.clone(),
        },
        queue(7),
    );
    assert_eq!(
        status,
        PickupMessage::Status(QueueStatus {
            message_count: 7,
            recipient_key: key.clone(),
            ..QueueStatus::default()
        })
    );
    let (_, delivery) = picked(
        PickupAct::AskDelivery {
            limit: 2,
            recipient_key: key.clone(),
        },
        queue(7),
    );
    let PickupMessage::Delivery {
        recipient_key,
        messages,
    } = delivery
    else {
        panic!("messages are delivered");
    };
    assert_eq!((recipient_key, messages.len()), (key, 2));
    // RFC 0685, "Delivery Request": without messages a status MUST be sent.
    let (_, empty) = picked(
        PickupAct::AskDelivery {
            limit: 2,
            recipient_key: None,
        },
        queue(0),
    );
    assert!(matches!(empty, PickupMessage::Status(_)));
    let (confirmed, status) = picked(PickupAct::Confirm(vec!["0".to_owned()]), queue(6));
    assert_eq!(confirmed.tell, [Notice::Received("messages-received")]);
    assert!(matches!(
        status,
        PickupMessage::Status(QueueStatus {
            message_count: 6,
            ..
        })
    ));
}

#[test]
fn live_delivery_needs_a_line_that_stays_open() {
    let (off, report) = picked(PickupAct::SetLive(true), Queue::default());
    assert!(!off.record.live_delivery && matches!(report, PickupMessage::Report(_)));
    let queue = Queue {
        is_persistent: true,
        ..Queue::default()
    };
    let (on, status) = picked(PickupAct::SetLive(true), queue);
    assert!(on.record.live_delivery);
    assert!(matches!(
        status,
        PickupMessage::Status(QueueStatus {
            live_delivery: true,
            ..
        })
    ));
}

type Rotation = did_rotate::RotationRecord;

fn rotated(record: &Rotation, input: &RotateInput, n: usize) -> Result<Advance<Rotation>, Problem> {
    did_rotate::step(Footing::Known(&stored(record)), input, &ctx(n))
}

fn rotation(act: RotateAct) -> (Advance<Rotation>, Advance<Rotation>) {
    let open = open("did-rotate", 1);
    let rotating = did_rotate::step(Footing::New(&open), &RotateInput::Act(act), &ctx(1)).unwrap();
    let received = RotateInput::Received(over_the_wire(&only(&rotating).message));
    let observing = did_rotate::step(Footing::New(&open), &received, &ctx(2)).unwrap();
    assert!(
        rotated(&observing.record, &received, 3)
            .unwrap()
            .is_repeated
    );
    (rotating, observing)
}

#[test]
fn a_did_is_rotated_once_the_other_side_has_resolved_the_new_one() {
    let to_did = "did:example:newdid".to_owned();
    let (rotating, observing) = rotation(RotateAct::Rotate {
        to_did: to_did.clone(),
    });
    assert_eq!(
        (observing.record.state, &observing.record.to_did),
        (RotateState::Received, &Some(to_did))
    );
    let accept = RotateInput::Act(RotateAct::Accept);
    let accepted = rotated(&observing.record, &accept, 4).unwrap();
    assert!(rotated(&accepted.record, &accept, 5).unwrap().is_repeated);
    let heard = RotateInput::Received(over_the_wire(&only(&accepted).message));
    let done = rotated(&rotating.record, &heard, 6).unwrap();
    assert_eq!(done.record.state, RotateState::Done);
}

#[test]
fn a_did_that_cannot_be_used_stays_out_and_the_code_says_why() {
    let refusals = [
        (RotateRefusal::Unresolvable, "e.did.unresolvable"),
        (RotateRefusal::MethodUnsupported, "e.did.method_unsupported"),
        (RotateRefusal::DocUnsupported, "e.did.doc_unsupported"),
    ];
    for (refusal, code) in refusals {
        let (rotating, observing) = rotation(RotateAct::Rotate {
            to_did: "did:example:new".to_owned(),
        });
        let refused = rotated(
            &observing.record,
            &RotateInput::Act(RotateAct::Refuse(refusal)),
            4,
        )
        .unwrap();
        assert_eq!(only(&refused).message.body["description"]["code"], code);
        let heard = RotateInput::Received(over_the_wire(&only(&refused).message));
        let ended = rotated(&rotating.record, &heard, 5).unwrap();
        assert_eq!(ended.record.state, RotateState::Abandoned);
        assert!(rotated(&refused.record, &RotateInput::Act(RotateAct::Accept), 6).is_err());
    }
}

#[test]
fn a_hangup_needs_no_answer() {
    let (rotating, observing) = rotation(RotateAct::Hangup);
    assert_eq!(
        (rotating.record.state, observing.record.state),
        (RotateState::Done, RotateState::Done)
    );
    assert!(observing.send.is_empty());
    assert!(rotated(&observing.record, &RotateInput::Act(RotateAct::Accept), 4).is_err());
    assert!(
        rotated(&rotating.record, &RotateInput::Act(RotateAct::Hangup), 5)
            .unwrap()
            .is_repeated
    );
}

/// RFC 0794, "Messages", for each state and event.
#[test]
fn each_state_of_a_rotation_allows_what_the_rfc_allows_and_nothing_else() {
    use RotateKind::{Ack, Hangup, Report, Rotate};
    use RotateRole::{Observing, Rotating};
    use RotateState as S;
    let rows = [
        (Rotating, None, Sends(Rotate), S::Sent),
        (Rotating, None, Sends(Hangup), S::Done),
        (Rotating, Some(S::Sent), Receives(Ack), S::Done),
        (Rotating, Some(S::Sent), Receives(Report), S::Abandoned),
        (Observing, None, Receives(Rotate), S::Received),
        (Observing, None, Receives(Hangup), S::Done),
        (Observing, Some(S::Received), Sends(Ack), S::Done),
        (Observing, Some(S::Received), Sends(Report), S::Abandoned),
    ];
    for role in [Rotating, Observing] {
        for from in [
            None,
            Some(S::Sent),
            Some(S::Received),
            Some(S::Done),
            Some(S::Abandoned),
        ] {
            for event in [Rotate, Hangup, Ack, Report]
                .into_iter()
                .flat_map(|kind| [Sends(kind), Receives(kind)])
            {
                let row = rows
                    .iter()
                    .find(|row| (row.0, row.1, row.2) == (role, from, event));
                assert_eq!(did_rotate::next(role, from, event), row.map(|row| row.3));
            }
        }
    }
}

fn acts() -> [MediationAct; 8] {
    [
        MediationAct::Request,
        MediationAct::Grant {
            endpoint: "https://example.com".to_owned(),
            routing_keys: vec![key(0)],
        },
        MediationAct::Deny,
        MediationAct::Update(vec![KeyUpdate {
            key: key(1),
            action: KeyAction::Add,
        }]),
        MediationAct::Updated {
            thread_id: "t".to_owned(),
            updated: Vec::new(),
        },
        MediationAct::Query(None),
        MediationAct::Keys {
            thread_id: "t".to_owned(),
            keys: Vec::new(),
            left: None,
        },
        MediationAct::Grant {
            endpoint: "https://other.example".to_owned(),
            routing_keys: Vec::new(),
        },
    ]
}

fn mediation_messages() -> [MediationMessage; 8] {
    [
        MediationMessage::Request,
        MediationMessage::Grant {
            endpoint: "https://example.com".to_owned(),
            routing_keys: vec![key(0)],
        },
        MediationMessage::Deny,
        MediationMessage::Update(Vec::new()),
        MediationMessage::Updated(Vec::new()),
        MediationMessage::Query(None),
        MediationMessage::Keys {
            keys: Vec::new(),
            left: None,
        },
        MediationMessage::Report(selfsame_aries::notification::ProblemReport::new("c", "x")),
    ]
}

proptest! {
    /// Whatever comes in whatever order: a mediation is granted or denied once, and the same message has no second effect.
    #[test]
    fn any_sequence_moves_a_mediation_only_forward(
        is_client in any::<bool>(),
        inputs in proptest::collection::vec((0..8_usize, any::<bool>(), any::<bool>()), 1..24),
    ) {
        let (client, server) = mediation();
        let mut record = if is_client { client.record } else { server.record };
        for (n, (which, is_act, is_of_thread)) in inputs.into_iter().enumerate() {
            let input = if is_act {
                MediationInput::Act(acts()[which].clone())
            } else {
                let content = mediation_messages()[which].clone();
                let thread_id = if is_of_thread { record.dialogue.thread_id.clone() } else { "other".to_owned() };
                MediationInput::Received(Incoming {
                    id: format!("m{n}"),
                    thread_id,
                    parent_thread_id: None,
                    kind: record.dialogue.kind.clone(),
                    content,
                })
            };
            let Ok(advance) = mediated(&record, &input, 100 + n) else { continue };
            let moves = [
                (MediationState::Request, MediationState::Granted),
                (MediationState::Request, MediationState::Denied),
                (MediationState::Granted, MediationState::Denied),
            ];
            let (from, to) = (record.state, advance.record.state);
            prop_assert!(from == to || moves.contains(&(from, to)));
            if let MediationInput::Received(_) = input {
                let again = mediated(&advance.record, &input, 200 + n).unwrap();
                prop_assert!(again.is_repeated && again.record == advance.record && again.send.is_empty());
            }
            record = advance.record;
        }
    }
}
