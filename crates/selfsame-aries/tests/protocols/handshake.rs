//! Both protocols that make a connection: two machines talk, each state meets each event.

use proptest::prelude::*;
use selfsame_aries::advance::Move::{self, Receives, Sends};
use selfsame_aries::advance::{Advance, Footing, Problem, ProblemKind};
use selfsame_aries::connection::{
    Accepting, ConnectionRecord, ConnectionRole, ConnectionState, DidWithDoc, Handshake,
    HandshakeRejection, InvitationMode, InvitationTerms, PassedState,
};
use selfsame_aries::connections::{
    self, ConnectionAct, ConnectionInput, ConnectionInvitation, Invited, InvitedTo,
};
use selfsame_aries::did_exchange::{self, DidExchangeAct, DidExchangeInput};
use selfsame_aries::wire::{Incoming, Vocabulary};
use selfsame_crypto::encoding::base64url_decode;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};
use serde_json::json;

use super::world::{PREFIXES, ctx, key, only, opening, over_the_wire, signed, stored};

/// A way to make a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    kind: MessageType,
    /// Whether the DIDs have documents.
    documents: bool,
    mode: InvitationMode,
}

const INVITER_KEY: usize = 0;
const REQUESTER_KEY: usize = 1;
const STRANGER_KEY: usize = 2;

impl Way {
    fn is_exchange(&self) -> bool {
        self.kind.protocol == "didexchange"
    }

    pub fn all() -> Vec<Self> {
        let versions = [("connections", 0), ("didexchange", 0), ("didexchange", 1)];
        let ways = PREFIXES.iter().flat_map(|prefix| {
            versions.iter().flat_map(move |(protocol, minor)| {
                [true, false].map(|documents| Self {
                    kind: MessageType::new(protocol, Semver::new(1, *minor), "request")
                        .with_prefix(prefix.clone()),
                    documents,
                    mode: InvitationMode::Once,
                })
            })
        });
        // Version 1.0 of DID exchange proves no DID without a document.
        ways.filter(|way| way.documents || way.kind.version.minor == 1 || !way.is_exchange())
            .collect()
    }

    fn party(&self, name: &str) -> DidWithDoc {
        let did = format!("did:example:{name}");
        let doc = self.documents.then(|| {
            json!({
                "@context": ["https://www.w3.org/ns/did/v1"],
                "id": did,
                "authentication": [{
                    "id": format!("{did}#1"),
                    "type": "Ed25519VerificationKey2018",
                    "controller": did,
                    "publicKeyBase58": key(REQUESTER_KEY).to_base58(),
                }],
            })
        });
        DidWithDoc { did, doc }
    }

    fn next(
        &self,
        role: ConnectionRole,
        from: Option<ConnectionState>,
        moved: Move<Handshake>,
    ) -> Option<ConnectionState> {
        match self.is_exchange() {
            true => did_exchange::next(role, from, moved),
            false => connections::next(role, from, moved),
        }
    }

    fn receive(&self, place: Footing<'_, ConnectionRecord>, message: &Message, n: usize) -> Given {
        match self.is_exchange() {
            true => signed(|evidence| {
                let input = DidExchangeInput::Received(Box::new(over_the_wire(message)));
                did_exchange::step(place, &input, evidence, &ctx(n))
            }),
            false => signed(|evidence| {
                let input = ConnectionInput::Received(over_the_wire(message));
                connections::step(place, &input, evidence, &ctx(n))
            }),
        }
    }

    fn act(&self, place: Footing<'_, ConnectionRecord>, act: &Does, n: usize) -> Given {
        match self.is_exchange() {
            true => signed(|evidence| {
                did_exchange::step(
                    place,
                    &DidExchangeInput::Act(self.exchange_act(act)),
                    evidence,
                    &ctx(n),
                )
            }),
            false => signed(|evidence| {
                connections::step(
                    place,
                    &ConnectionInput::Act(self.connection_act(act)),
                    evidence,
                    &ctx(n),
                )
            }),
        }
    }

    fn connection_act(&self, act: &Does) -> ConnectionAct {
        match act {
            Does::Invite => ConnectionAct::Invite(Invited {
                invitation: ConnectionInvitation {
                    label: Some("Faber".to_owned()),
                    image_url: None,
                    to: InvitedTo::Keys {
                        recipient_keys: vec![key(INVITER_KEY)],
                        endpoint: "https://example.com".to_owned(),
                        routing_keys: Vec::new(),
                    },
                },
                key: key(INVITER_KEY),
                mode: self.mode,
                alias: Some("Alice".to_owned()),
                accept: Accepting::Auto,
            }),
            Does::Request => ConnectionAct::Request {
                label: Some("Alice".to_owned()),
                party: self.party("alice"),
                inviter_key: None,
            },
            Does::Respond => ConnectionAct::Respond {
                party: self.party("faber"),
            },
            Does::Complete => ConnectionAct::Confirm,
            Does::Reject(may_retry) => ConnectionAct::Reject(rejection(*may_retry)),
        }
    }

    fn exchange_act(&self, act: &Does) -> DidExchangeAct {
        match act {
            Does::Invite => DidExchangeAct::Begin(terms(ConnectionRole::Inviter, self.mode)),
            Does::Request => DidExchangeAct::Request {
                label: Some("Alice".to_owned()),
                party: self.party("alice"),
                key: key(REQUESTER_KEY),
                inviter_key: None,
            },
            Does::Respond => DidExchangeAct::Respond {
                party: self.party("faber"),
            },
            Does::Complete => DidExchangeAct::Complete,
            Does::Reject(may_retry) => DidExchangeAct::Reject(rejection(*may_retry)),
        }
    }

    /// Both sides with the invitation, each in its record.
    fn invited(&self) -> (Advance<ConnectionRecord>, Advance<ConnectionRecord>) {
        let opening = opening(&self.kind);
        let inviter = self.act(Footing::New(&opening), &Does::Invite, 1).unwrap();
        let invitee = match self.is_exchange() {
            true => signed(|evidence| {
                let act =
                    DidExchangeAct::Begin(terms(ConnectionRole::Invitee, InvitationMode::Once));
                did_exchange::step(
                    Footing::New(&opening),
                    &DidExchangeInput::Act(act),
                    evidence,
                    &ctx(2),
                )
            }),
            false => self.receive(Footing::New(&opening), &only(&inviter).message, 2),
        };
        (inviter, invitee.unwrap())
    }
}

type Given = Result<Advance<ConnectionRecord>, Problem>;

/// What a controller does, in either protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Does {
    Invite,
    Request,
    Respond,
    Complete,
    Reject(bool),
}

fn rejection(may_retry: bool) -> HandshakeRejection {
    HandshakeRejection {
        may_retry,
        explain: Some("No.".to_owned()),
    }
}

fn terms(role: ConnectionRole, mode: InvitationMode) -> InvitationTerms {
    InvitationTerms {
        role,
        id: "invitation-1".to_owned(),
        key: Some(key(INVITER_KEY)),
        did: None,
        mode,
        label: Some("Faber".to_owned()),
        alias: None,
        accept: Accepting::Manual,
    }
}

/// A whole conversation: the records of both sides in each state, and all messages.
pub struct Talk {
    way: Way,
    inviter: Vec<ConnectionRecord>,
    invitee: Vec<ConnectionRecord>,
    request: Message,
    response: Message,
    complete: Message,
    /// The inviter refuses the request; the invitee refuses the response.
    refused: [Message; 2],
}

impl Talk {
    pub fn new(way: &Way) -> Self {
        let (inviter, invitee) = way.invited();
        let asked = way
            .act(Footing::Known(&invitee.record), &Does::Request, 3)
            .unwrap();
        let request = only(&asked).message.clone();
        let heard = way
            .receive(Footing::Known(&inviter.record), &request, 4)
            .unwrap();
        let requested = heard.beside.unwrap_or(heard.record);
        let no = way
            .act(Footing::Known(&requested), &Does::Reject(false), 5)
            .unwrap();
        let answered = way
            .act(Footing::Known(&requested), &Does::Respond, 6)
            .unwrap();
        let response = only(&answered).message.clone();
        let known = way
            .receive(Footing::Known(&asked.record), &response, 7)
            .unwrap();
        let nor = way
            .act(Footing::Known(&known.record), &Does::Reject(false), 8)
            .unwrap();
        let done = way
            .act(Footing::Known(&known.record), &Does::Complete, 9)
            .unwrap();
        let complete = only(&done).message.clone();
        let ended = match way.is_exchange() {
            true => way.receive(Footing::Known(&answered.record), &complete, 10),
            false => heard_anything(&answered.record),
        };
        let inviter = [
            inviter.record,
            requested,
            answered.record,
            ended.unwrap().record,
            no.record.clone(),
        ];
        let invitee = [
            invitee.record,
            asked.record,
            known.record,
            done.record,
            nor.record.clone(),
        ];
        Self {
            way: way.clone(),
            inviter: inviter.iter().map(stored).collect(),
            invitee: invitee.iter().map(stored).collect(),
            request,
            response,
            complete,
            refused: [only(&no).message.clone(), only(&nor).message.clone()],
        }
    }

    /// The record of this side in this state.
    fn record(&self, role: ConnectionRole, state: ConnectionState) -> &ConnectionRecord {
        let records = match role {
            ConnectionRole::Inviter => &self.inviter,
            ConnectionRole::Invitee => &self.invitee,
        };
        records.iter().find(|record| record.state == state).unwrap()
    }

    /// Gives the event to a record. Messages have identifiers that were not seen before.
    fn give(
        &self,
        role: ConnectionRole,
        from: Option<ConnectionState>,
        event: Move<Handshake>,
    ) -> Given {
        let opening = opening(&self.way.kind);
        let place = match from {
            None => Footing::New(&opening),
            Some(state) => Footing::Known(self.record(role, state)),
        };
        let fresh = |message: &Message| {
            let mut message = message.clone();
            message.thread.thid = Some(message.thread_id().to_owned());
            message.id = "fresh".to_owned();
            message
        };
        let act = |does: &Does| self.way.act(place, does, 20);
        let receive = |message: &Message| self.way.receive(place, &fresh(message), 21);
        match event {
            Sends(Handshake::Invitation) => act(&Does::Invite),
            Sends(Handshake::Request) => act(&Does::Request),
            Sends(Handshake::Response) => act(&Does::Respond),
            Sends(Handshake::Complete) => act(&Does::Complete),
            Sends(Handshake::Report) => act(&Does::Reject(false)),
            Receives(Handshake::Request) => receive(&self.request),
            Receives(Handshake::Response) => receive(&self.response),
            Receives(Handshake::Complete) if !self.way.is_exchange() => match place {
                Footing::New(_) => Err(Problem::wrong_state()),
                Footing::Known(record) => heard_anything(record),
            },
            Receives(Handshake::Complete) => receive(&self.complete),
            Receives(Handshake::Report) => {
                let number = usize::from(role == ConnectionRole::Inviter);
                receive(&self.refused[number])
            }
            Receives(Handshake::Invitation) => unreachable!("invitations are received once"),
        }
    }
}

fn heard_anything(record: &ConnectionRecord) -> Given {
    signed(|evidence| {
        connections::step(
            Footing::Known(record),
            &ConnectionInput::Heard,
            evidence,
            &ctx(30),
        )
    })
}

/// A row of a table: the state, and what each event does: `-` is impossible, `=` leaves the state.
type Row = (Option<ConnectionState>, [&'static str; 6]);
use ConnectionState::{Abandoned, Completed, Invitation, Request, Response};
use Handshake as H;

/// RFC 0160, "State Machine Tables". Beside the picture: "invited" is `invitation`, "requested" `request`, "responded"
/// `response`, "complete" `active`, "null" after an error `error`. Showing an invitation again is no step.
const INVITER_COLUMNS: [Move<H>; 6] = [
    Sends(H::Invitation),
    Receives(H::Request),
    Sends(H::Response),
    Receives(H::Complete),
    Sends(H::Report),
    Receives(H::Report),
];
const INVITER: [Row; 6] = [
    (None, ["invitation", "-", "-", "-", "-", "-"]),
    (Some(Invitation), ["-", "request", "-", "-", "-", "-"]),
    (Some(Request), ["-", "=", "response", "-", "error", "-"]),
    (Some(Response), ["-", "=", "=", "active", "-", "error"]),
    (Some(Completed), ["-", "=", "-", "=", "-", "-"]),
    (Some(Abandoned), ["-", "-", "-", "-", "=", "-"]),
];
/// The picture's second table repeats parts of the first by mistake; the text ("Errors", §1–§3) tells what it means.
const INVITEE_COLUMNS: [Move<H>; 6] = [
    Sends(H::Request),
    Receives(H::Response),
    Sends(H::Complete),
    Receives(H::Complete),
    Sends(H::Report),
    Receives(H::Report),
];
const INVITEE: [Row; 5] = [
    (Some(Invitation), ["request", "-", "-", "-", "-", "-"]),
    (Some(Request), ["=", "response", "-", "-", "error", "error"]),
    (Some(Response), ["-", "-", "active", "active", "error", "-"]),
    (Some(Completed), ["-", "-", "=", "=", "-", "-"]),
    (Some(Abandoned), ["-", "-", "-", "-", "=", "-"]),
];
/// RFC 0023, "State Machine Tables".
const RESPONDER: [Row; 6] = [
    (None, ["invitation", "-", "-", "-", "-", "-"]),
    (Some(Invitation), ["-", "request", "-", "-", "-", "error"]),
    (Some(Request), ["-", "=", "response", "-", "error", "-"]),
    (Some(Response), ["-", "=", "=", "active", "-", "error"]),
    (Some(Completed), ["-", "=", "-", "-", "-", "-"]),
    (Some(Abandoned), ["-", "-", "-", "-", "=", "-"]),
];
const REQUESTER: [Row; 5] = [
    (Some(Invitation), ["request", "-", "-", "-", "error", "-"]),
    (Some(Request), ["=", "response", "-", "-", "-", "error"]),
    (Some(Response), ["-", "-", "active", "-", "error", "-"]),
    (Some(Completed), ["-", "-", "=", "-", "-", "-"]),
    (Some(Abandoned), ["-", "-", "-", "-", "=", "-"]),
];

fn check(talk: &Talk, role: ConnectionRole, columns: [Move<H>; 6], rows: &[Row]) {
    for (from, cells) in rows {
        for (event, expected) in columns.into_iter().zip(cells) {
            // The report that the responder gets in the first state is about the invitation.
            let is_about_invitation = (*from, event) == (Some(Invitation), Receives(H::Report));
            let got = match talk.give(role, *from, event) {
                Err(_) => "-",
                Ok(advance) if advance.is_repeated => {
                    assert!(advance.send.is_empty() && advance.tell.is_empty());
                    "="
                }
                Ok(advance) => advance.record.state.rfc160(),
            };
            let allowed = talk.way.next(role, *from, event);
            if is_about_invitation {
                assert_eq!(allowed.map_or("-", ConnectionState::rfc160), *expected);
                continue;
            }
            assert_eq!(
                got, *expected,
                "{role:?} in {from:?}, {event:?}, {:?}",
                talk.way
            );
            let is_moved = !matches!(*expected, "-" | "=");
            assert_eq!(
                is_moved,
                allowed.is_some_and(|to| Some(to) != *from),
                "{role:?} {from:?} {event:?}"
            );
        }
    }
}

#[test]
fn each_state_of_a_connection_allows_what_its_rfc_allows_and_nothing_else() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        let (inviter, invitee): (&[Row], &[Row]) = match way.is_exchange() {
            true => (&RESPONDER, &REQUESTER),
            false => (&INVITER, &INVITEE),
        };
        check(&talk, ConnectionRole::Inviter, INVITER_COLUMNS, inviter);
        check(&talk, ConnectionRole::Invitee, INVITEE_COLUMNS, invitee);
    }
}

#[test]
fn two_agents_connect_and_know_each_other() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        let inviter = talk.record(ConnectionRole::Inviter, Completed);
        let invitee = talk.record(ConnectionRole::Invitee, Completed);
        assert_eq!(
            (&inviter.ours, &inviter.theirs),
            (&invitee.theirs, &invitee.ours)
        );
        assert_eq!(inviter.dialogue.thread_id, invitee.dialogue.thread_id);
        assert_eq!(
            inviter.dialogue.parent_thread_id.as_ref(),
            Some(&inviter.invitation_id)
        );
        assert_eq!(inviter.their_label.as_deref(), Some("Alice"));
        assert_eq!(invitee.their_label.as_deref(), Some("Faber"));
        for message in [&talk.request, &talk.response] {
            assert_eq!(message.kind.prefix, way.kind.prefix);
            assert_eq!(message.kind.version, way.kind.version);
        }
        assert_eq!(talk.complete.kind.prefix, way.kind.prefix);
    }
}

#[test]
fn a_connection_remembers_the_states_that_it_has_been_in() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        for role in [ConnectionRole::Inviter, ConnectionRole::Invitee] {
            let record = talk.record(role, Completed);
            let states: Vec<_> = record.history.iter().map(PassedState::state).collect();
            let expected = [Invitation, Request, Response, Completed];
            assert_eq!(states, expected);
        }
    }
}

#[test]
fn messages_that_came_before_change_nothing() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        for record in &talk.inviter[1..] {
            let again = way
                .receive(Footing::Known(record), &talk.request, 40)
                .unwrap();
            assert!(again.is_repeated && again.send.is_empty() && again.record == *record);
        }
        for record in &talk.invitee[2..] {
            let again = way
                .receive(Footing::Known(record), &talk.response, 41)
                .unwrap();
            assert!(again.is_repeated && again.send.is_empty() && again.record == *record);
        }
    }
}

#[test]
fn a_response_of_another_key_is_refused_and_reported_to_the_invitation() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        let mut impostor = talk.record(ConnectionRole::Inviter, Request).clone();
        impostor.invitation_key = Some(key(STRANGER_KEY));
        let forged = way
            .act(Footing::Known(&impostor), &Does::Respond, 50)
            .unwrap();
        let waiting = talk.record(ConnectionRole::Invitee, Request);
        let problem = way
            .receive(Footing::Known(waiting), &only(&forged).message, 51)
            .unwrap_err();
        assert_eq!(
            (problem.kind, problem.code),
            (ProblemKind::Signature, "response_not_accepted")
        );
        let report = problem.report.unwrap();
        assert_eq!(report.message.body["problem-code"], "response_not_accepted");
        assert_eq!(report.message.kind.name, "problem_report");
        assert_eq!(
            report.message.thread.thid.as_ref(),
            Some(&waiting.dialogue.thread_id)
        );
    }
}

#[test]
fn a_response_without_signature_is_refused() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        let mut response = talk.response.clone();
        for attachment in &mut response.attachments {
            attachment.signatures.clear();
        }
        if !way.is_exchange() {
            let signed = response.body.get_mut("connection~sig").unwrap();
            signed["signature"] = json!("AAAA");
        }
        let waiting = talk.record(ConnectionRole::Invitee, Request);
        let problem = way
            .receive(Footing::Known(waiting), &response, 51)
            .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Signature);
        response.attachments.clear();
        let problem = way
            .receive(Footing::Known(waiting), &response, 52)
            .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Signature);
    }
}

#[test]
fn a_response_that_names_another_did_than_the_signed_one_is_refused() {
    for way in Way::all().into_iter().filter(Way::is_exchange) {
        let talk = Talk::new(&way);
        let mut response = talk.response.clone();
        response
            .body
            .insert("did".to_owned(), json!("did:example:mallory"));
        let waiting = talk.record(ConnectionRole::Invitee, Request);
        let problem = way
            .receive(Footing::Known(waiting), &response, 53)
            .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Signature);
    }
}

#[test]
fn a_public_did_that_invited_may_respond_as_itself() {
    let way = Way {
        kind: MessageType::new("didexchange", Semver::new(1, 0), "request"),
        documents: false,
        mode: InvitationMode::Once,
    };
    let (inviter, mut invitee) = way.invited();
    invitee.record.invitation_did = Some("did:example:faber".to_owned());
    let asked = way
        .act(Footing::Known(&invitee.record), &Does::Request, 3)
        .unwrap();
    let heard = way
        .receive(Footing::Known(&inviter.record), &only(&asked).message, 4)
        .unwrap();
    let answered = way
        .act(Footing::Known(&heard.record), &Does::Respond, 5)
        .unwrap();
    let known = way
        .receive(Footing::Known(&asked.record), &only(&answered).message, 6)
        .unwrap();
    assert_eq!(known.record.theirs, Some(way.party("faber")));
}

#[test]
fn an_invitation_that_many_use_gives_each_a_record_and_stays() {
    for way in Way::all() {
        let way = Way {
            mode: InvitationMode::Multi,
            ..way
        };
        let (inviter, invitee) = way.invited();
        let mut records = Vec::new();
        for n in 0..3 {
            let asked = way
                .act(Footing::Known(&invitee.record), &Does::Request, 60 + n)
                .unwrap();
            let heard = way
                .receive(
                    Footing::Known(&inviter.record),
                    &only(&asked).message,
                    70 + n,
                )
                .unwrap();
            assert_eq!(heard.record, inviter.record);
            let record = heard.beside.unwrap();
            assert_eq!(
                (record.state, record.invitation_mode),
                (Request, InvitationMode::Once)
            );
            records.push(record.dialogue.thread_id);
        }
        records.dedup();
        assert_eq!(records.len(), 3);
    }
}

#[test]
fn the_second_who_uses_a_single_invitation_is_told_so() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        let (_, invitee) = way.invited();
        let mut other = way
            .act(Footing::Known(&invitee.record), &Does::Request, 80)
            .unwrap();
        other.send[0].message.thread.pthid = Some(talk.inviter[0].invitation_id.clone());
        let used = talk.record(ConnectionRole::Inviter, Request);
        let problem = way
            .receive(Footing::Known(used), &other.send[0].message, 81)
            .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Used);
        let report = problem.report.unwrap();
        assert_eq!(report.to, selfsame_aries::advance::Recipient::Sender);
        assert_eq!(report.message.body["problem-code"], "request_not_accepted");
    }
}

#[test]
fn after_an_error_that_asks_for_it_the_same_is_sent_again() {
    for way in Way::all() {
        let talk = Talk::new(&way);
        let record = talk.record(ConnectionRole::Inviter, Request);
        let retry = way
            .act(Footing::Known(record), &Does::Reject(true), 90)
            .unwrap();
        assert_eq!(retry.record.state, Invitation);
        let asked = talk.record(ConnectionRole::Invitee, Request);
        let told = way
            .receive(Footing::Known(asked), &only(&retry).message, 91)
            .unwrap();
        assert_eq!(told.record.state, Invitation);
        let again = way
            .act(Footing::Known(&told.record), &Does::Request, 92)
            .unwrap();
        let heard = way
            .receive(Footing::Known(&retry.record), &only(&again).message, 93)
            .unwrap();
        assert_eq!(heard.record.state, Request);
    }
}

#[test]
fn a_request_for_another_invitation_or_with_a_forged_document_is_refused() {
    for way in Way::all().into_iter().filter(Way::is_exchange) {
        let talk = Talk::new(&way);
        let invited = talk.record(ConnectionRole::Inviter, Invitation);
        let mut astray = talk.request.clone();
        astray.thread.pthid = Some("another".to_owned());
        let problem = way
            .receive(Footing::Known(invited), &astray, 95)
            .unwrap_err();
        assert_eq!(
            (problem.kind, problem.code),
            (ProblemKind::UnknownThread, "request_not_accepted")
        );
        if way.documents {
            let mut forged = talk.request.clone();
            let other =
                selfsame_didcomm::Attachment::of_bytes("x", br#"{"id":"did:example:alice","a":1}"#);
            forged.attachments[0].content = other.content;
            let problem = way
                .receive(Footing::Known(invited), &forged, 96)
                .unwrap_err();
            assert_eq!(problem.kind, ProblemKind::Signature);
        }
    }
}

#[test]
fn a_signature_names_its_key_once_in_what_it_covers() {
    let mut signatures = 0;
    for way in Way::all().into_iter().filter(Way::is_exchange) {
        let talk = Talk::new(&way);
        let sent = [&talk.request, &talk.response];
        for attachment in sent.into_iter().flat_map(|message| &message.attachments) {
            for signature in &attachment.signatures {
                let covered = base64url_decode(&signature.protected).unwrap();
                let covered: serde_json::Value = serde_json::from_slice(&covered).unwrap();
                // RFC 0017, "Signing Attachments".
                assert_eq!(covered["jwk"]["kid"].as_str(), signature.kid.as_deref());
                assert!(covered.get("kid").is_none(), "{covered}");
                signatures += 1;
            }
        }
    }
    assert!(signatures > 0);
}

#[test]
fn a_document_that_is_signed_by_a_key_of_somebody_else_is_refused() {
    for way in Way::all()
        .into_iter()
        .filter(|way| way.is_exchange() && way.documents)
    {
        let talk = Talk::new(&way);
        let invited = talk.record(ConnectionRole::Inviter, Invitation);
        let asking = talk.record(ConnectionRole::Invitee, Invitation);
        let forged = signed(|evidence| {
            let act = DidExchangeAct::Request {
                label: None,
                party: way.party("alice"),
                key: key(STRANGER_KEY),
                inviter_key: None,
            };
            let input = DidExchangeInput::Act(act);
            did_exchange::step(Footing::Known(asking), &input, evidence, &ctx(97))
        });
        let forged = forged.unwrap();
        let problem = way
            .receive(Footing::Known(invited), &only(&forged).message, 98)
            .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Signature);
    }
}

fn way() -> impl Strategy<Value = Way> {
    proptest::sample::select(Way::all())
}

fn input() -> impl Strategy<Value = (u8, bool)> {
    (0..14_u8, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever comes in whatever order: a state changes only along the table, a refusal changes nothing, and the same
    /// input again has no effect.
    #[test]
    fn any_sequence_moves_a_connection_only_along_its_table(
        way in way(),
        is_inviter in any::<bool>(),
        inputs in proptest::collection::vec(input(), 1..24),
    ) {
        let talk = Talk::new(&way);
        let role = if is_inviter { ConnectionRole::Inviter } else { ConnectionRole::Invitee };
        let mut record = talk.record(role, Invitation).clone();
        for (number, (what, is_fresh)) in inputs.into_iter().enumerate() {
            let mut messages = [&talk.request, &talk.response, &talk.complete, &talk.refused[0], &talk.refused[1]]
                .map(Clone::clone);
            for message in &mut messages {
                if is_fresh {
                    message.thread.thid = Some(record.dialogue.thread_id.clone());
                    message.id = format!("fresh-{number}");
                }
            }
            let place = Footing::Known(&record);
            let n = 100 + number;
            let is_ping = |message: &Message| message.kind.protocol == "trust_ping";
            let given = match what {
                0 => way.act(place, &Does::Invite, n),
                1 => way.act(place, &Does::Request, n),
                2 => way.act(place, &Does::Respond, n),
                3 => way.act(place, &Does::Complete, n),
                4 => way.act(place, &Does::Reject(false), n),
                5 => way.act(place, &Does::Reject(true), n),
                6 | 7 if !way.is_exchange() => heard_anything(&record),
                _ => {
                    let message = &messages[usize::from(what) % 5];
                    if is_ping(message) { heard_anything(&record) } else { way.receive(place, message, n) }
                }
            };
            let Ok(advance) = given else { continue };
            if advance.is_repeated {
                prop_assert_eq!(&advance.record, &record);
                prop_assert!(advance.send.is_empty());
            }
            let to = advance.record.state;
            if to != record.state {
                let events = [H::Request, H::Response, H::Complete, H::Report];
                let mut moves = events.into_iter().flat_map(|event| [Sends(event), Receives(event)]);
                let along = moves.any(|moved| way.next(role, Some(record.state), moved).is_some_and(|next| {
                    next == to || (next == Abandoned && is_before(to, record.state))
                }));
                prop_assert!(along, "{:?} to {:?}", record.state, to);
            }
            record = stored(&advance.record);
        }
    }
}

/// Whether the first state is the one before the second, to which an error leads that may be mended.
fn is_before(one: ConnectionState, other: ConnectionState) -> bool {
    matches!((one, other), (Invitation, Request) | (Request, Response))
}

#[test]
fn what_is_read_is_what_was_written_in_each_message() {
    fn same<M: Vocabulary + PartialEq + std::fmt::Debug>(message: &Message) {
        let read: Incoming<M> = over_the_wire(message);
        let mut again = Message::new(read.kind.clone(), read.id.clone());
        again.thread = message.thread.clone();
        read.content.write(&mut again);
        assert_eq!(again, *message);
    }
    for way in Way::all() {
        let talk = Talk::new(&way);
        for message in [
            &talk.request,
            &talk.response,
            &talk.refused[0],
            &talk.refused[1],
        ] {
            match way.is_exchange() {
                true => same::<did_exchange::DidExchangeMessage>(message),
                false => same::<connections::ConnectionMessage>(message),
            }
        }
    }
}
