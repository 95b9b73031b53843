//! Out-of-band: links, the table of what a receiver does, states, and the reuse of a connection.

use selfsame_aries::advance::Move::{self, Receives, Sends};
use selfsame_aries::advance::{Advance, Footing, Problem, ProblemKind, Recipient};
use selfsame_aries::connections::InvitedTo;
use selfsame_aries::out_of_band::{
    Ability, InvitationText, OobAct, OobInput, OobInvitation, OobKind, OobMessage, OobRecord,
    OobRole, OobService, OobState, Plan, UrlProblem, next, plan, read_invitation, step,
    write_invitation,
};
use selfsame_aries::protocol;
use selfsame_aries::wire::{Incoming, Unreadable};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver, Version};
use serde_json::{Value, json};
use url::Url;

use super::world::{ctx, key, only, opening, over_the_wire, stored};

const LINKS: &str = include_str!("../../../../vectors/aries/invitations.json");

fn links() -> Value {
    serde_json::from_str(LINKS).unwrap()
}

#[test]
fn the_links_of_the_rfcs_are_read_and_written_again() {
    let links = links();
    let text = links["out_of_band"].as_str().unwrap();
    let Ok(InvitationText::OutOfBand(read)) = read_invitation(text) else {
        panic!("it is an invitation of out-of-band");
    };
    assert_eq!(read.id, "69212a3a-d068-4f9d-a2dd-4741bca89af3");
    let OobMessage::Invitation(invitation) = &read.content else {
        panic!("it is an invitation");
    };
    assert_eq!(invitation.goal_code.as_deref(), Some("issue-vc"));
    assert_eq!(
        invitation.services,
        [OobService::Did("did:sov:LjgpST2rjsoxYegQDRm7EL".to_owned())]
    );
    assert_eq!(invitation.handshake_protocols.len(), 2);
    let mut message = Message::new(read.kind.clone(), read.id.clone());
    selfsame_aries::wire::Vocabulary::write(&read.content, &mut message);
    let written = write_invitation(&Url::parse("http://example.com/ssi").unwrap(), &message);
    assert_eq!(
        read_invitation(written.as_str()),
        Ok(InvitationText::OutOfBand(read))
    );

    let text = links["connection"].as_str().unwrap();
    let Ok(InvitationText::Connection(read)) = read_invitation(text) else {
        panic!("it is an invitation of connections");
    };
    let selfsame_aries::connections::ConnectionMessage::Invitation(invitation) = read.content
    else {
        panic!("it is an invitation");
    };
    assert!(matches!(invitation.to, InvitedTo::Keys { .. }));
}

#[test]
fn an_invitation_is_read_as_json_as_base64_and_from_a_link_with_more_parameters() {
    let json = invitation_json(&json!({}));
    let encoded = selfsame_crypto::encoding::base64url_encode(json.as_bytes());
    let padded = selfsame_crypto::encoding::base64_encode(json.as_bytes());
    let link = format!("didcomm://aries?coupon=7&oob={padded}");
    for text in [
        json.clone(),
        encoded.clone(),
        padded,
        format!(" https://a.example/?oob={encoded}#x "),
        link,
    ] {
        assert!(
            matches!(read_invitation(&text), Ok(InvitationText::OutOfBand(_))),
            "{text}"
        );
    }
    for text in [
        "",
        "https://example.com/",
        "https://example.com/?oob=",
        "{}",
        "https://example.com/?oob=e30",
    ] {
        assert!(read_invitation(text).is_err(), "{text}");
    }
    assert_eq!(
        read_invitation(&"a".repeat(600_000)),
        Err(UrlProblem::TooLong)
    );
    let reuse =
        json!({ "@type": "https://didcomm.org/out-of-band/1.1/handshake-reuse", "@id": "a" });
    assert_eq!(
        read_invitation(&reuse.to_string()),
        Err(UrlProblem::NoInvitation)
    );
}

fn invitation_json(members: &Value) -> String {
    let mut value = json!({
        "@type": "https://didcomm.org/out-of-band/1.1/invitation",
        "@id": "invitation-1",
        "label": "Faber College",
        "handshake_protocols": ["https://didcomm.org/didexchange/1.0", "https://didcomm.org/connections/1.0"],
        "services": [{
            "id": "#inline",
            "type": "did-communication",
            "recipientKeys": ["did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH"],
            "routingKeys": [],
            "serviceEndpoint": "https://example.com:5000",
        }, "did:sov:LjgpST2rjsoxYegQDRm7EL"],
    });
    value
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    value.to_string()
}

fn invitation(members: &Value) -> Result<OobInvitation, Unreadable> {
    let message = Message::read(invitation_json(members).as_bytes(), Version::V1).unwrap();
    let read: Incoming<OobMessage> = Incoming::read(&message)?;
    match read.content {
        OobMessage::Invitation(invitation) => Ok(invitation),
        other => panic!("{other:?} is no invitation"),
    }
}

#[test]
fn an_invitation_needs_a_way_to_answer_and_something_to_answer() {
    assert!(invitation(&json!({})).is_ok());
    assert!(invitation(&json!({ "accept": null, "imageUrl": null, "routingKeys": null })).is_ok());
    for refused in [
        json!({ "handshake_protocols": [] }),
        json!({ "handshake_protocols": null }),
        json!({ "services": [] }),
        json!({ "services": [{ "type": "LinkedDomains", "recipientKeys": [], "serviceEndpoint": "https://example.com" }] }),
        json!({ "services": [{ "recipientKeys": [], "serviceEndpoint": "https://example.com" }] }),
        json!({ "services": vec!["did:sov:LjgpST2rjsoxYegQDRm7EL"; 17] }),
        json!({ "requests~attach": [{ "@id": "0", "data": { "json": { "no": "message" } } }] }),
    ] {
        assert!(invitation(&refused).is_err(), "{refused}");
    }
    // Keys are read in each form in which agents write them, and written as RFC 0434 wants them.
    let base58 = key(0).to_base58();
    let services = json!([{ "recipientKeys": [base58], "serviceEndpoint": "https://example.com" }]);
    let read = invitation(&json!({ "services": services })).unwrap();
    assert_eq!(read.key(), Some(&key(0)));
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(
        written["services"][0]["recipientKeys"][0],
        key(0).to_did().to_string()
    );
}

fn ping() -> Value {
    json!([{ "@id": "0", "data": { "json": { "@type": "https://didcomm.org/trust_ping/1.0/ping", "@id": "p" } } }])
}

fn foreign() -> Value {
    json!([{ "@id": "0", "data": { "json": { "@type": "https://example.com/chess/1.0/move", "@id": "p" } } }])
}

/// RFC 0434, "Responses": the table, row by row.
#[test]
fn a_receiver_does_what_the_table_of_the_rfc_says() {
    let handshakes = [MessageType::new(
        "didexchange",
        Semver::new(1, 1),
        "request",
    )];
    let planned = |members: Value, has_connection: bool| {
        let ability = Ability {
            has_connection,
            handshakes: &handshakes,
            speaks: |kind| protocol::find(kind).is_some(),
        };
        plan(&invitation(&members).unwrap(), &ability)
    };
    let only_requests = json!({ "handshake_protocols": [], "requests~attach": ping() });
    let both = json!({ "requests~attach": ping() });
    let Plan::Connect { kind, request, .. } = planned(json!({}), false) else {
        panic!("a connection is made");
    };
    assert_eq!(
        (kind.to_string().as_str(), request),
        ("https://didcomm.org/didexchange/1.0/request", None)
    );
    assert!(matches!(
        planned(only_requests.clone(), false),
        Plan::AnswerAlone { request: 0, .. }
    ));
    assert!(matches!(
        planned(both.clone(), false),
        Plan::Connect {
            request: Some(0),
            ..
        }
    ));
    assert_eq!(planned(json!({}), true), Plan::Reuse);
    assert_eq!(planned(only_requests, true), Plan::AnswerOnConnection(0));
    assert_eq!(planned(both, true), Plan::AnswerOnConnection(0));
    // Nothing that is spoken here.
    assert_eq!(
        planned(
            json!({ "handshake_protocols": ["https://didcomm.org/connections/1.0"] }),
            false
        ),
        Plan::Unsupported
    );
    let foreign = json!({ "handshake_protocols": [], "requests~attach": foreign() });
    assert_eq!(planned(foreign.clone(), false), Plan::Unsupported);
    assert_eq!(planned(foreign, true), Plan::Unsupported);
}

type Step = Advance<OobRecord>;

/// Sender and receiver with the invitation.
fn invited(multi_use: bool) -> (Step, Step) {
    let open = opening(&MessageType::new(
        "out-of-band",
        Semver::new(1, 1),
        "invitation",
    ));
    let invitation = invitation(&json!({ "requests~attach": ping() })).unwrap();
    let act = OobAct::Invite {
        invitation,
        multi_use,
    };
    let sender = step(Footing::New(&open), &OobInput::Act(act), &ctx(1)).unwrap();
    assert_eq!(only(&sender).to, Recipient::OutOfBand);
    let received = OobInput::Received(over_the_wire(&only(&sender).message));
    let receiver = step(Footing::New(&open), &received, &ctx(2)).unwrap();
    assert_eq!(receiver.record.state, OobState::PrepareResponse);
    assert_eq!(
        receiver.record.dialogue.thread_id,
        sender.record.dialogue.thread_id
    );
    (sender, receiver)
}

fn given(record: &OobRecord, input: &OobInput, n: usize) -> Result<Step, Problem> {
    step(Footing::Known(&stored(record)), input, &ctx(n))
}

fn reuse() -> OobInput {
    let connection_id = "connection-1".to_owned();
    OobInput::Act(OobAct::Reuse { connection_id })
}

#[test]
fn a_connection_is_used_again_and_the_sender_must_say_so() {
    for multi_use in [false, true] {
        let (sender, receiver) = invited(multi_use);
        let asked = given(&receiver.record, &reuse(), 3).unwrap();
        let thread = &only(&asked).message.thread;
        assert_eq!(thread.thid.as_ref(), Some(&only(&asked).message.id));
        assert_eq!(
            thread.pthid.as_ref(),
            Some(&sender.record.dialogue.thread_id)
        );
        assert!(given(&asked.record, &reuse(), 4).unwrap().is_repeated);
        let heard = OobInput::Received(over_the_wire(&only(&asked).message));
        let accepted = given(&sender.record, &heard, 5).unwrap();
        let state = if multi_use {
            OobState::AwaitResponse
        } else {
            OobState::Done
        };
        assert_eq!(accepted.record.state, state);
        assert!(given(&accepted.record, &heard, 6).unwrap().is_repeated);
        let heard = OobInput::Received(over_the_wire(&only(&accepted).message));
        let known = given(&asked.record, &heard, 7).unwrap();
        assert_eq!(known.record.state, OobState::ReuseAccepted);
        assert!(given(&known.record, &heard, 8).unwrap().is_repeated);
        let answer = OobInput::Act(OobAct::Answer {
            connection_id: Some("connection-1".to_owned()),
            attach_thread_id: None,
        });
        let done = given(&known.record, &answer, 9).unwrap();
        assert_eq!(done.record.state, OobState::Done);
        assert!(given(&done.record, &answer, 10).unwrap().is_repeated);
    }
}

#[test]
fn the_second_who_uses_an_invitation_for_one_is_told_that_it_expired() {
    let (sender, receiver) = invited(false);
    let answered = OobInput::Answered {
        connection_id: Some("connection-1".to_owned()),
    };
    let used = given(&sender.record, &answered, 3).unwrap();
    assert_eq!(used.record.state, OobState::Done);
    assert!(given(&used.record, &answered, 4).unwrap().is_repeated);
    let asked = given(&receiver.record, &reuse(), 5).unwrap();
    let heard = OobInput::Received(over_the_wire(&only(&asked).message));
    let problem = given(&used.record, &heard, 6).unwrap_err();
    assert_eq!(
        (problem.kind, problem.code),
        (ProblemKind::Used, "expired-invitation")
    );
    let report = problem.report.unwrap();
    assert_eq!(
        report.message.body["description"]["code"],
        "expired-invitation"
    );
    assert_eq!(report.message.kind.name, "problem_report");
    let told = given(
        &asked.record,
        &OobInput::Received(over_the_wire(&report.message)),
        7,
    )
    .unwrap();
    assert_eq!(told.record.state, OobState::ReuseNotAccepted);
    assert_eq!(told.record.connection_id, None);
}

#[test]
fn a_receiver_that_waits_in_vain_makes_a_connection() {
    let (_, receiver) = invited(false);
    let asked = given(&receiver.record, &reuse(), 3).unwrap();
    let given_up = given(&asked.record, &OobInput::Act(OobAct::GiveUpReuse), 4).unwrap();
    assert_eq!(given_up.record.state, OobState::ReuseNotAccepted);
    let answer = OobInput::Act(OobAct::Answer {
        connection_id: None,
        attach_thread_id: Some("p".to_owned()),
    });
    let done = given(&given_up.record, &answer, 5).unwrap();
    assert_eq!(
        (done.record.state, done.record.attach_thread_id.as_deref()),
        (OobState::Done, Some("p"))
    );
}

#[test]
fn an_acceptance_of_another_reuse_is_refused() {
    let (sender, receiver) = invited(true);
    let asked = given(&receiver.record, &reuse(), 3).unwrap();
    let other = given(&receiver.record, &reuse(), 4).unwrap();
    let heard = OobInput::Received(over_the_wire(&only(&other).message));
    let accepted = given(&sender.record, &heard, 5).unwrap();
    let heard = OobInput::Received(over_the_wire(&only(&accepted).message));
    let problem = given(&asked.record, &heard, 6).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::UnknownThread);
}

/// RFC 0434, "States", "States Reference", for each state and event.
#[test]
fn each_state_of_an_invitation_allows_what_the_rfc_allows_and_nothing_else() {
    use OobKind::{Answer, Invitation, Report, Reuse, ReuseAccepted};
    use OobState as S;
    let sender: [(Option<S>, Move<OobKind>, S); 3] = [
        (None, Sends(Invitation), S::AwaitResponse),
        (Some(S::AwaitResponse), Receives(Answer), S::Done),
        (Some(S::AwaitResponse), Receives(Reuse), S::Done),
    ];
    let receiver: [(Option<S>, Move<OobKind>, S); 7] = [
        (None, Receives(Invitation), S::PrepareResponse),
        (Some(S::PrepareResponse), Sends(Reuse), S::AwaitResponse),
        (Some(S::PrepareResponse), Sends(Answer), S::Done),
        (
            Some(S::AwaitResponse),
            Receives(ReuseAccepted),
            S::ReuseAccepted,
        ),
        (
            Some(S::AwaitResponse),
            Receives(Report),
            S::ReuseNotAccepted,
        ),
        (Some(S::ReuseNotAccepted), Sends(Answer), S::Done),
        (Some(S::ReuseAccepted), Sends(Answer), S::Done),
    ];
    let states = std::iter::once(None).chain(S::ALL.into_iter().map(Some));
    let kinds = [Invitation, Reuse, ReuseAccepted, Answer, Report];
    for from in states {
        for event in kinds
            .into_iter()
            .flat_map(|kind| [Sends(kind), Receives(kind)])
        {
            let expected = |rows: &[(Option<S>, Move<OobKind>, S)]| {
                rows.iter()
                    .find(|row| (row.0, row.1) == (from, event))
                    .map(|row| row.2)
            };
            assert_eq!(next(OobRole::Sender, from, event), expected(&sender));
            assert_eq!(next(OobRole::Receiver, from, event), expected(&receiver));
        }
    }
}
