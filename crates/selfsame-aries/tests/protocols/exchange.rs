//! Both exchange protocols in both versions: two machines talk, each state meets each event, any sequence comes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use selfsame_aries::advance::Move::{self, Receives, Sends};
use selfsame_aries::advance::{Advance, Footing, Notice, Problem, ProblemKind};
use selfsame_aries::dialogue::Initiator;
use selfsame_aries::exchange::{
    Course, Exchange, ExchangeInput, Formatted, Payload, Preview, PreviewAttribute, Speech, Spoken,
    step,
};
use selfsame_aries::formats::{Artefact, FORMATS};
use selfsame_aries::issue_credential::{IssueCredential, IssueMessage, IssueRole, IssueState};
use selfsame_aries::notification::ProblemReport;
use selfsame_aries::present_proof::{PresentProof, ProofMessage, ProofRole, ProofState};
use selfsame_aries::wire::Vocabulary;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};

use super::world::{PREFIXES, ctx, only, opening, over_the_wire, stored};

type Given<C> = Result<Advance<Exchange<C>>, Problem>;

/// The payload of this kind of message, in all formats that the version knows.
fn payload(artefact: Artefact, version: Semver) -> Payload {
    let formats = FORMATS
        .iter()
        .filter(|format| version.major > 1 || format.name == "indy");
    let attachments = formats.map(|format| Formatted {
        attach_id: match version.major {
            1 => (format.first_id)(artefact).to_owned(),
            _ => format!("{}-0", format.name),
        },
        format: (format.id)(artefact).to_owned(),
        bytes: Some(br#"{"schema_name":"permit"}"#.to_vec()),
    });
    let attributes = vec![PreviewAttribute {
        name: "date".to_owned(),
        mime_type: None,
        value: "20211205".to_owned(),
    }];
    let with_preview = matches!(artefact, Artefact::Filter | Artefact::Offer);
    Payload {
        comment: Some("a comment".to_owned()),
        preview: with_preview.then_some(Preview { attributes }),
        attachments: attachments.collect(),
        will_confirm: (version.major > 1 && artefact == Artefact::ProofRequest).then_some(true),
        ..Payload::default()
    }
}

/// What a test knows of a protocol.
trait Tested: Course {
    /// The order of a whole exchange, with who sends each message: true for the role that `ROLES` names first.
    const ORDER: &'static [(Self::Kind, bool)];
    /// Both roles.
    const ROLES: [Self::Role; 2];
    const KINDS: &'static [Self::Kind];

    fn states() -> Vec<Self::State>;

    fn speech(kind: Self::Kind, version: Semver) -> Speech<Self> {
        if kind == Self::ACK {
            return Speech::ack();
        }
        if kind == Self::REPORT {
            return Speech::report(ProblemReport::new("code", "what is wrong"));
        }
        let entry = Self::MESSAGES
            .iter()
            .find(|entry| entry.kind == kind)
            .unwrap();
        Speech::of(kind, Self::payload(entry.form.artefact, version))
    }

    fn payload(artefact: Artefact, version: Semver) -> Payload {
        payload(artefact, version)
    }
}

impl Tested for IssueCredential {
    const ORDER: &'static [(IssueMessage, bool)] = &[
        (IssueMessage::Proposal, false),
        (IssueMessage::Offer, true),
        (IssueMessage::Request, false),
        (IssueMessage::Credential, true),
        (IssueMessage::Ack, false),
    ];
    const ROLES: [IssueRole; 2] = [IssueRole::Issuer, IssueRole::Holder];
    const KINDS: &'static [IssueMessage] = &[
        IssueMessage::Proposal,
        IssueMessage::Offer,
        IssueMessage::Request,
        IssueMessage::Credential,
        IssueMessage::Ack,
        IssueMessage::Report,
    ];

    fn states() -> Vec<IssueState> {
        IssueState::ALL.to_vec()
    }
}

impl Tested for PresentProof {
    const ORDER: &'static [(ProofMessage, bool)] = &[
        (ProofMessage::Proposal, false),
        (ProofMessage::Request, true),
        (ProofMessage::Presentation, false),
        (ProofMessage::Ack, true),
    ];
    const ROLES: [ProofRole; 2] = [ProofRole::Verifier, ProofRole::Prover];
    const KINDS: &'static [ProofMessage] = &[
        ProofMessage::Proposal,
        ProofMessage::Request,
        ProofMessage::Presentation,
        ProofMessage::Ack,
        ProofMessage::Report,
    ];

    fn states() -> Vec<ProofState> {
        ProofState::ALL.to_vec()
    }

    fn payload(artefact: Artefact, version: Semver) -> Payload {
        let mut payload = payload(artefact, version);
        if version.major == 1 && artefact == Artefact::ProposedProof {
            payload.attachments = vec![Formatted {
                attach_id: "preview".to_owned(),
                format: selfsame_aries::present_proof::PREVIEW.to_owned(),
                bytes: Some(br#"{"attributes":[],"predicates":[]}"#.to_vec()),
            }];
        }
        payload
    }
}

/// All versions with both prefixes.
fn kinds<C: Course>() -> Vec<MessageType> {
    let each = C::VERSIONS.iter().flat_map(|version| {
        PREFIXES
            .iter()
            .map(|prefix| MessageType::new(C::PROTOCOL, *version, "x").with_prefix(prefix.clone()))
    });
    each.collect()
}

/// A whole exchange: the last record of both sides, and all messages.
struct Talk<C: Course> {
    kind: MessageType,
    records: [Exchange<C>; 2],
    messages: BTreeMap<C::Kind, Message>,
}

impl<C: Tested> Talk<C> {
    fn new(kind: &MessageType) -> Self {
        let mut records: [Option<Exchange<C>>; 2] = [None, None];
        let mut messages = BTreeMap::new();
        let opening = opening(kind);
        for (n, (which, is_first)) in C::ORDER.iter().enumerate() {
            let (from, to) = if *is_first { (0, 1) } else { (1, 0) };
            let place = |record: &Option<Exchange<C>>| record.clone();
            let input = ExchangeInput::Send(C::speech(*which, kind.version));
            let sender = place(&records[from]);
            let sent = step(footing(&sender, &opening), &input, &ctx(n)).unwrap();
            let message = only(&sent).message.clone();
            assert_eq!(
                (&message.kind.prefix, message.kind.version),
                (&kind.prefix, kind.version)
            );
            let receiver = place(&records[to]);
            let input = ExchangeInput::Received(over_the_wire(&message));
            let heard = step(footing(&receiver, &opening), &input, &ctx(n + 100)).unwrap();
            assert!(heard.send.is_empty());
            records = if *is_first {
                [Some(stored(&sent.record)), Some(stored(&heard.record))]
            } else {
                [Some(stored(&heard.record)), Some(stored(&sent.record))]
            };
            messages.insert(*which, message);
        }
        let mut report = messages.values().last().unwrap().clone();
        report.kind = report.kind.sibling("problem-report");
        report.body.clear();
        C::speech(C::REPORT, kind.version).write(&mut report);
        messages.insert(C::REPORT, report);
        Self {
            kind: kind.clone(),
            records: records.map(Option::unwrap),
            messages,
        }
    }

    /// A record of this role in this state.
    fn record(&self, role: C::Role, state: C::State) -> Exchange<C> {
        let record = &self.records[usize::from(role != C::ROLES[0])];
        // What was said last is forgotten, so that saying it is not the same act again.
        let mut value = serde_json::to_value(record).unwrap();
        value["said_last"] = serde_json::Value::Null;
        let mut record: Exchange<C> = serde_json::from_value(value).unwrap();
        record.state = state;
        record
    }

    fn give(&self, record: &Option<Exchange<C>>, event: Move<C::Kind>, n: usize) -> Given<C> {
        let opening = opening(&self.kind);
        let input = match event {
            Sends(kind) => ExchangeInput::Send(C::speech(kind, self.kind.version)),
            Receives(kind) => {
                let mut message = self.messages[&kind].clone();
                message.thread.thid = Some(message.thread_id().to_owned());
                message.id = format!("fresh-{n}");
                ExchangeInput::Received(over_the_wire(&message))
            }
        };
        step(footing(record, &opening), &input, &ctx(n))
    }
}

fn footing<'a, C: Course>(
    record: &'a Option<Exchange<C>>,
    opening: &'a selfsame_aries::advance::Outset,
) -> Footing<'a, Exchange<C>> {
    match record {
        Some(record) => Footing::Known(record),
        None => Footing::New(opening),
    }
}

/// The events that a state allows, each with the state that follows.
type Cells<'a, C> = &'a [(Move<<C as Course>::Kind>, <C as Course>::State)];

/// Checks that each state allows exactly the events of its row: an event of the role, and the state that follows.
fn check<C: Tested>(role: C::Role, rows: &[(Option<C::State>, Cells<'_, C>)]) {
    for kind in kinds::<C>() {
        let talk = Talk::<C>::new(&kind);
        let mut seen = 0;
        let all = std::iter::once(None).chain(C::states().into_iter().map(Some));
        for from in all {
            let row = rows
                .iter()
                .find(|(state, _)| *state == from)
                .map_or(&[][..], |(_, row)| *row);
            for event in C::KINDS
                .iter()
                .flat_map(|kind| [Sends(*kind), Receives(*kind)])
            {
                let expected = row
                    .iter()
                    .find(|(allowed, _)| *allowed == event)
                    .map(|(_, to)| *to);
                // Both roles begin in the same way; who begins is decided by the message.
                let record = from.map(|state| talk.record(role, state));
                if from.is_none() && C::role(event) != Some(role) {
                    assert!(expected.is_none());
                    assert_eq!(
                        C::role(event).is_none(),
                        talk.give(&None, event, 500).is_err()
                    );
                    continue;
                }
                let got = talk
                    .give(&record, event, 500)
                    .ok()
                    .filter(|advance| !advance.is_repeated);
                let to = got.map(|advance| advance.record.state);
                assert_eq!(to, expected, "{role:?} in {from:?}, {event:?}");
                seen += usize::from(expected.is_some());
            }
        }
        assert_eq!(seen, rows.iter().map(|(_, row)| row.len()).sum::<usize>());
    }
}

#[test]
fn the_issuer_allows_what_the_rfc_allows_and_nothing_else() {
    use IssueMessage::{Ack, Credential, Offer, Proposal, Report, Request};
    use IssueState as S;
    let end = [
        (Sends(Report), S::Abandoned),
        (Receives(Report), S::Abandoned),
    ];
    check::<IssueCredential>(
        IssueRole::Issuer,
        &[
            (
                None,
                &[
                    (Receives(Proposal), S::ProposalReceived),
                    (Sends(Offer), S::OfferSent),
                    (Receives(Request), S::RequestReceived),
                ],
            ),
            (
                Some(S::ProposalReceived),
                &[(Sends(Offer), S::OfferSent), end[0], end[1]],
            ),
            (
                Some(S::OfferSent),
                &[
                    (Receives(Proposal), S::ProposalReceived),
                    (Receives(Request), S::RequestReceived),
                    end[0],
                    end[1],
                ],
            ),
            (
                Some(S::RequestReceived),
                &[(Sends(Credential), S::CredentialIssued), end[0], end[1]],
            ),
            (
                Some(S::CredentialIssued),
                &[(Receives(Ack), S::Done), end[0], end[1]],
            ),
            // States of the other side.
            (Some(S::ProposalSent), &end),
            (Some(S::OfferReceived), &end),
            (Some(S::RequestSent), &end),
            (Some(S::CredentialReceived), &end),
        ],
    );
}

#[test]
fn the_holder_allows_what_the_rfc_allows_and_nothing_else() {
    use IssueMessage::{Ack, Credential, Offer, Proposal, Report, Request};
    use IssueState as S;
    let end = [
        (Sends(Report), S::Abandoned),
        (Receives(Report), S::Abandoned),
    ];
    check::<IssueCredential>(
        IssueRole::Holder,
        &[
            (
                None,
                &[
                    (Sends(Proposal), S::ProposalSent),
                    (Receives(Offer), S::OfferReceived),
                    (Sends(Request), S::RequestSent),
                ],
            ),
            (
                Some(S::ProposalSent),
                &[(Receives(Offer), S::OfferReceived), end[0], end[1]],
            ),
            (
                Some(S::OfferReceived),
                &[
                    (Sends(Proposal), S::ProposalSent),
                    (Sends(Request), S::RequestSent),
                    end[0],
                    end[1],
                ],
            ),
            (
                Some(S::RequestSent),
                &[
                    (Receives(Credential), S::CredentialReceived),
                    end[0],
                    end[1],
                ],
            ),
            (
                Some(S::CredentialReceived),
                &[(Sends(Ack), S::Done), end[0], end[1]],
            ),
            (Some(S::ProposalReceived), &end),
            (Some(S::OfferSent), &end),
            (Some(S::RequestReceived), &end),
            (Some(S::CredentialIssued), &end),
        ],
    );
}

/// RFC 0454, "States": both pictures. Its text lets either party send a problem report earlier, too.
#[test]
fn the_verifier_allows_what_the_rfc_allows_and_nothing_else() {
    use ProofMessage::{Ack, Presentation, Proposal, Report, Request};
    use ProofState as S;
    let end = [
        (Sends(Report), S::Abandoned),
        (Receives(Report), S::Abandoned),
    ];
    check::<PresentProof>(
        ProofRole::Verifier,
        &[
            (
                None,
                &[
                    (Sends(Request), S::RequestSent),
                    (Receives(Proposal), S::ProposalReceived),
                ],
            ),
            (
                Some(S::RequestSent),
                &[
                    (Sends(Request), S::RequestSent),
                    (Receives(Proposal), S::ProposalReceived),
                    (Receives(Presentation), S::PresentationReceived),
                    end[0],
                    end[1],
                ],
            ),
            (
                Some(S::ProposalReceived),
                &[(Sends(Request), S::RequestSent), end[0], end[1]],
            ),
            (
                Some(S::PresentationReceived),
                &[(Sends(Ack), S::Done), end[0], end[1]],
            ),
            (Some(S::ProposalSent), &end),
            (Some(S::RequestReceived), &end),
            (Some(S::PresentationSent), &end),
        ],
    );
}

#[test]
fn the_prover_allows_what_the_rfc_allows_and_nothing_else() {
    use ProofMessage::{Ack, Presentation, Proposal, Report, Request};
    use ProofState as S;
    let end = [
        (Sends(Report), S::Abandoned),
        (Receives(Report), S::Abandoned),
    ];
    check::<PresentProof>(
        ProofRole::Prover,
        &[
            (
                None,
                &[
                    (Receives(Request), S::RequestReceived),
                    (Sends(Proposal), S::ProposalSent),
                ],
            ),
            (
                Some(S::RequestReceived),
                &[
                    (Sends(Proposal), S::ProposalSent),
                    (Sends(Presentation), S::PresentationSent),
                    end[0],
                    end[1],
                ],
            ),
            (
                Some(S::ProposalSent),
                &[(Receives(Request), S::RequestReceived), end[0], end[1]],
            ),
            (
                Some(S::PresentationSent),
                &[(Receives(Ack), S::Done), end[0], end[1]],
            ),
            (Some(S::RequestSent), &end),
            (Some(S::ProposalReceived), &end),
            (Some(S::PresentationReceived), &end),
        ],
    );
}

/// The end of a whole exchange.
fn ended<C: Tested>(done: C::State) {
    for kind in kinds::<C>() {
        let talk = Talk::<C>::new(&kind);
        let [first, second] = &talk.records;
        assert_eq!((first.state, second.state), (done, done));
        assert_eq!(first.dialogue.thread_id, second.dialogue.thread_id);
        assert_eq!(first.messages, second.messages);
        assert_eq!(
            (first.initiator, second.initiator),
            (Initiator::External, Initiator::Us)
        );
    }
}

#[test]
fn two_agents_exchange_to_the_end_in_each_version_and_keep_the_same_messages() {
    ended::<IssueCredential>(IssueState::Done);
    ended::<PresentProof>(ProofState::Done);
}

fn remembered<C: Tested>() {
    for kind in kinds::<C>() {
        let talk = Talk::<C>::new(&kind);
        let [first, second] = &talk.records;
        let spoken = |record: &Exchange<C>| -> Vec<(C::Kind, bool)> {
            let spoken = record.spoken.iter();
            spoken.map(|one| (one.kind(), one.is_ours())).collect()
        };
        assert_eq!(spoken(first), C::ORDER);
        let theirs = C::ORDER.iter().map(|(which, is_first)| (*which, !is_first));
        assert_eq!(spoken(second), theirs.collect::<Vec<_>>());
        let mut older = serde_json::to_value(first).unwrap();
        older.as_object_mut().unwrap().remove("spoken").unwrap();
        let older: Exchange<C> = serde_json::from_value(older).unwrap();
        assert!(older.spoken.is_empty());
    }
}

#[test]
fn both_sides_remember_the_messages_in_their_order_and_records_of_before_are_read() {
    remembered::<IssueCredential>();
    remembered::<PresentProof>();
}

#[test]
fn who_negotiates_without_end_remembers_the_newest_messages() {
    for kind in kinds::<IssueCredential>() {
        let talk = Talk::<IssueCredential>::new(&kind);
        let mut record = Some(talk.record(IssueRole::Issuer, IssueState::OfferSent));
        for round in 0..20 {
            for event in [Receives(IssueMessage::Proposal), Sends(IssueMessage::Offer)] {
                let given = talk.give(&record, event, 200 + round).unwrap();
                record = Some(given.record);
            }
        }
        let spoken = record.unwrap().spoken;
        assert_eq!(spoken.len(), 16);
        let last = spoken.last().unwrap();
        assert_eq!((last.kind(), last.is_ours()), (IssueMessage::Offer, true));
    }
}

fn read_back<C: Tested>() {
    for kind in kinds::<C>() {
        let talk = Talk::<C>::new(&kind);
        for message in talk.messages.values() {
            let read = over_the_wire::<Speech<C>>(message);
            let mut again = Message::new(read.kind.clone(), read.id.clone());
            again.thread = message.thread.clone();
            read.content.write(&mut again);
            assert_eq!(again, *message);
        }
    }
}

#[test]
fn what_is_read_is_what_was_written_in_each_message_of_each_version() {
    read_back::<IssueCredential>();
    read_back::<PresentProof>();
}

#[test]
fn a_report_ends_both_sides_and_is_told() {
    for kind in kinds::<IssueCredential>() {
        let talk = Talk::<IssueCredential>::new(&kind);
        let record = Some(talk.record(IssueRole::Holder, IssueState::RequestSent));
        let told = talk
            .give(&record, Receives(IssueMessage::Report), 1)
            .unwrap();
        assert_eq!(told.record.state, IssueState::Abandoned);
        assert_eq!(
            told.record.dialogue.error_msg.as_deref(),
            Some("code: what is wrong")
        );
        let reported = ProblemReport::new("code", "what is wrong");
        assert_eq!(
            told.tell,
            [Notice::State("abandoned"), Notice::Reported(reported)]
        );
        // Other agents send it by the protocol of reports, with the thread as the parent.
        let mut free = talk.messages[&IssueMessage::Report].clone();
        free.kind = MessageType::new("report-problem", Semver::new(1, 0), "problem-report");
        free.thread.pthid = free.thread.thid.take();
        free.id = "free".to_owned();
        let input = ExchangeInput::Received(over_the_wire(&free));
        let told = step(Footing::Known(record.as_ref().unwrap()), &input, &ctx(2)).unwrap();
        assert_eq!(told.record.state, IssueState::Abandoned);
    }
}

#[test]
fn a_message_of_another_thread_is_refused() {
    for kind in kinds::<PresentProof>() {
        let talk = Talk::<PresentProof>::new(&kind);
        let record = talk.record(ProofRole::Verifier, ProofState::RequestSent);
        let mut astray = talk.messages[&ProofMessage::Presentation].clone();
        astray.thread.thid = Some("another".to_owned());
        astray.id = "other".to_owned();
        let input = ExchangeInput::Received(over_the_wire(&astray));
        let problem = step(Footing::Known(&record), &input, &ctx(1)).unwrap_err();
        assert_eq!(
            (problem.kind, problem.report),
            (ProblemKind::UnknownThread, None)
        );
    }
}

/// Whatever comes in whatever order.
fn any_sequence<C: Tested>(kind: &MessageType, is_first: bool, inputs: &[(usize, bool, bool)]) {
    let talk = Talk::<C>::new(kind);
    let role = C::ROLES[usize::from(!is_first)];
    let mut record: Option<Exchange<C>> = None;
    for (n, (which, is_sent, is_fresh)) in inputs.iter().enumerate() {
        let kind = C::KINDS[which % C::KINDS.len()];
        let event = if *is_sent {
            Sends(kind)
        } else {
            Receives(kind)
        };
        if record.is_none() && C::role(event) != Some(role) {
            continue;
        }
        let from = record.as_ref().map(|record| record.state);
        let given = talk.give(&record, event, if *is_fresh { n + 1_000 } else { 0 });
        let Ok(advance) = given else {
            // What the table allows is refused only if it belongs to another thread.
            let is_own = !matches!(event, Receives(_)) || record.is_none();
            assert!(C::next(role, from, event).is_none() || !is_own);
            continue;
        };
        if advance.is_repeated {
            assert_eq!(Some(&advance.record), record.as_ref());
            assert!(advance.send.is_empty() && advance.tell.is_empty());
            continue;
        }
        let to = C::next(role, from, event).expect("a refused move is an error");
        assert_eq!(advance.record.state, C::settled(&advance.record, event, to));
        assert_eq!(advance.send.len(), usize::from(*is_sent));
        // The same input again has no effect.
        let again = talk.give(
            &Some(stored(&advance.record)),
            event,
            if *is_fresh { n + 1_000 } else { 0 },
        );
        let again = again.expect("the same input again is no error");
        assert!(again.is_repeated && again.send.is_empty() && again.record == advance.record);
        record = Some(stored(&advance.record));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_moves_an_exchange_only_along_its_table(
        which in 0..4_usize,
        is_first in any::<bool>(),
        inputs in proptest::collection::vec((0..6_usize, any::<bool>(), any::<bool>()), 1..32),
    ) {
        any_sequence::<IssueCredential>(&kinds::<IssueCredential>()[which], is_first, &inputs);
        any_sequence::<PresentProof>(&kinds::<PresentProof>()[which], is_first, &inputs);
    }
}

#[test]
fn a_spoken_message_has_the_name_of_its_kind() {
    let speech = IssueCredential::speech(IssueMessage::Offer, Semver::new(2, 0));
    assert_eq!(speech.name(), "offer-credential");
    assert!(matches!(speech.content, Spoken::Payload(_)));
}
