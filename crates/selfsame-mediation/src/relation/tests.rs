use proptest::prelude::*;
use selfsame_aries::advance::ProblemKind;
use selfsame_aries::connection::{Accepting, InvitationMode, InvitationTerms};
use selfsame_crypto::time::UnixTime;

use super::*;

const STATES: [ConnectionState; 5] = ConnectionState::ALL;

fn ctx(seed: u8) -> Ctx {
    Ctx::new(UnixTime(1_700_000_000), [seed; 32])
}

fn party(did: &str) -> DidWithDoc {
    DidWithDoc {
        did: did.to_owned(),
        doc: None,
    }
}

fn record(role: ConnectionRole, mode: InvitationMode) -> ConnectionRecord {
    let terms = InvitationTerms {
        role,
        id: "invitation".to_owned(),
        key: None,
        did: Some("did:example:inviter".to_owned()),
        mode,
        label: None,
        alias: None,
        accept: Accepting::Manual,
    };
    ConnectionRecord::begin(terms, made_kind(), &ctx(1)).record
}

fn received(content: RelationMessage, id: &str) -> RelationInput {
    RelationInput::Received(Incoming {
        id: id.to_owned(),
        thread_id: "thread".to_owned(),
        parent_thread_id: Some("invitation".to_owned()),
        kind: MessageType::new("trust_ping", Semver::new(1, 0), "ping"),
        content,
    })
}

fn first(id: &str) -> RelationInput {
    let did = "did:example:invitee".to_owned();
    received(RelationMessage::First { did }, id)
}

fn respond(is_telling: bool) -> RelationInput {
    RelationInput::Act(RelationAct::Respond {
        party: party("did:example:inviter"),
        is_telling,
    })
}

#[test]
fn both_sides_come_to_know_each_other() {
    let invitee = record(Invitee, InvitationMode::Once);
    let act = RelationInput::Act(RelationAct::Request(party("did:example:invitee")));
    let mut asked = step(&invitee, &act, &ctx(2)).unwrap();
    let ping = asked.send.pop().unwrap();
    assert_eq!(ping.to, Recipient::Invitation);
    assert_eq!(ping.message.thread.pthid.as_deref(), Some("invitation"));
    assert_eq!(asked.record.state, Request);
    assert!(step(&asked.record, &act, &ctx(2)).unwrap().is_repeated);

    let inviter = record(Inviter, InvitationMode::Once);
    let met = step(&inviter, &first("1"), &ctx(3)).unwrap().record;
    assert_eq!(met.theirs, Some(party("did:example:invitee")));
    assert_eq!(met.dialogue.kind, made_kind());
    let done = step(&met, &respond(false), &ctx(4)).unwrap();
    assert_eq!((done.record.state, done.send.len()), (Completed, 0));
    let told = step(&met, &respond(true), &ctx(4)).unwrap();
    assert_eq!(told.send.len(), 1);

    let heard = step(&asked.record, &RelationInput::Heard, &ctx(5)).unwrap();
    assert_eq!(heard.record.state, Completed);
    assert!(
        step(&heard.record, &RelationInput::Heard, &ctx(6))
            .unwrap()
            .is_repeated
    );
}

#[test]
fn an_invitation_for_many_stays_and_each_begins_a_record() {
    let inviter = record(Inviter, InvitationMode::Multi);
    let advance = step(&inviter, &first("1"), &ctx(2)).unwrap();
    assert_eq!(advance.record, inviter);
    assert_eq!(advance.beside.unwrap().state, Request);
}

#[test]
fn an_invitation_for_one_refuses_the_second() {
    let inviter = record(Inviter, InvitationMode::Once);
    let mut met = step(&inviter, &first("1"), &ctx(2)).unwrap().record;
    met.dialogue.thread_id = "another".to_owned();
    let problem = step(&met, &first("2"), &ctx(3)).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Used);
    assert_eq!(problem.report.unwrap().to, Recipient::Sender);
}

#[test]
fn a_report_ends_what_was_asked_and_nothing_else() {
    let report = received(RelationMessage::Report(ProblemReport::new("x", "y")), "7");
    for role in [Inviter, Invitee] {
        for state in STATES {
            let mut known = record(role, InvitationMode::Once);
            known.state = state;
            known.dialogue.thread_id = "thread".to_owned();
            let ended = step(&known, &report, &ctx(2));
            match (role, state) {
                (Invitee, Request) => assert_eq!(ended.unwrap().record.state, Abandoned),
                _ => assert!(ended.is_err(), "{role:?} {state:?}"),
            }
        }
    }
}

fn inputs() -> Vec<RelationInput> {
    vec![
        first("1"),
        first("2"),
        received(RelationMessage::Report(ProblemReport::new("x", "y")), "3"),
        RelationInput::Heard,
        RelationInput::Act(RelationAct::Request(party("did:example:invitee"))),
        respond(false),
        respond(true),
        RelationInput::Act(RelationAct::Reject(HandshakeRejection::default())),
    ]
}

fn moves(input: &RelationInput) -> Move<Handshake> {
    match input {
        RelationInput::Received(message) => Move::Receives(match message.content {
            RelationMessage::First { .. } => Handshake::Request,
            RelationMessage::Report(_) => Handshake::Report,
        }),
        RelationInput::Heard => Move::Receives(Handshake::Complete),
        RelationInput::Act(RelationAct::Request(_)) => Move::Sends(Handshake::Request),
        RelationInput::Act(RelationAct::Respond { .. }) => Move::Sends(Handshake::Response),
        RelationInput::Act(RelationAct::Reject(_)) => Move::Sends(Handshake::Report),
    }
}

proptest! {
    #[test]
    fn any_sequence_moves_a_connection_only_along_the_table(
        is_inviter: bool, is_multi: bool, picks in prop::collection::vec(0usize..8, 0..12),
    ) {
        let role = if is_inviter { Inviter } else { Invitee };
        let mode = if is_multi { InvitationMode::Multi } else { InvitationMode::Once };
        let (mut known, inputs) = (record(role, mode), inputs());
        for (at, pick) in picks.into_iter().enumerate() {
            let input = &inputs[pick];
            let to = next(role, Some(known.state), moves(input));
            if let Ok(advance) = step(&known, input, &ctx(at as u8)) {
                if advance.is_repeated {
                    prop_assert_eq!(&advance.record, &known);
                    continue;
                }
                let moved = advance.beside.as_ref().unwrap_or(&advance.record);
                prop_assert_eq!(Some(moved.state), to);
                known = advance.record;
            }
        }
    }
}
