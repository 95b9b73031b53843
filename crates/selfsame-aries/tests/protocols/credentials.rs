//! Issuing and presenting: the examples of the RFCs, and what a controller does.

use selfsame_aries::advance::{Advance, Footing, Outset, Recipient};
use selfsame_aries::exchange::{Formatted, Payload, Spoken};
use selfsame_aries::issue_credential::{
    self, CredentialExchange, IssueInput, IssueMessage, IssueSpeech, IssueState,
};
use selfsame_aries::notification::ProblemReport;
use selfsame_aries::present_proof::{
    self, PresentationExchange, ProofInput, ProofMessage, ProofSpeech, ProofState,
};
use selfsame_aries::wire::{Incoming, Unreadable};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver, Version};
use serde_json::{Value, json};

use super::world::{ctx, only, opening, over_the_wire, stored};

fn read<M: selfsame_aries::wire::Vocabulary>(value: &Value) -> Result<M, Unreadable> {
    let message = Message::read(value.to_string().as_bytes(), Version::V1).unwrap();
    Incoming::read(&message).map(|read| read.content)
}

fn payload(spoken: Spoken) -> Payload {
    match spoken {
        Spoken::Payload(payload) => *payload,
        other => panic!("{other:?} has no attachments"),
    }
}

/// RFC 0453 and RFC 0592: a proposal and an offer.
#[test]
fn the_messages_of_version_2_are_read() {
    let proposal = read::<IssueSpeech>(&json!({
        "@id": "b6f4a9c2",
        "@type": "https://didcomm.org/issue-credential/2.0/propose-credential",
        "goal_code": "aries.vc.issue",
        "comment": "some comment",
        "credential_preview": {
            "@type": "issue-credential/2.0/credential-preview",
            "attributes": [{ "name": "vaccine", "value": "SARS-CoV2" }, { "name": "photo", "mime-type": "image/png", "value": "AAAA" }],
        },
        "formats": [{ "attach_id": "1", "format": "hlindy/cred-filter@v2.0" }],
        "filters~attach": [{ "@id": "1", "mime-type": "application/json", "data": { "base64": "e30=" } }],
        "trace": false,
    }));
    let proposal = proposal.unwrap();
    assert_eq!(proposal.kind, IssueMessage::Proposal);
    let proposal = payload(proposal.content);
    assert_eq!(
        proposal.in_format("hlindy/cred-filter@v2.0"),
        Some(b"{}".as_slice())
    );
    let preview = proposal.preview.unwrap();
    assert_eq!(
        preview.attributes[1].mime_type.as_deref(),
        Some("image/png")
    );

    let offer = |data: Value, attach_id: &str| {
        read::<IssueSpeech>(&json!({
            "@id": "b6f4a9c2",
            "@type": "https://didcomm.org/issue-credential/2.0/offer-credential",
            "replacement_id": "<issuer unique id>",
            "comment": null,
            "formats": [{ "attach_id": attach_id, "format": "hlindy/cred-abstract@v2.0" }],
            "offers~attach": [{ "@id": "1", "mime-type": "application/json", "data": data }],
        }))
    };
    // RFC 0453, "Message Attachments": implementations MUST expect any of the embedded forms.
    let json = payload(
        offer(json!({ "json": { "nonce": "1" } }), "1")
            .unwrap()
            .content,
    );
    assert_eq!(
        json.attachments[0].bytes.as_deref(),
        Some(br#"{"nonce":"1"}"#.as_slice())
    );
    assert!(offer(json!({ "base64": "e30" }), "1").is_ok());
    assert!(matches!(
        offer(json!({ "base64": "e30" }), "2"),
        Err(Unreadable::Rule(_))
    ));
    assert!(matches!(
        offer(
            json!({ "links": ["https://example.com"], "sha256": "00" }),
            "1"
        ),
        Err(Unreadable::Attachment(_))
    ));
}

#[test]
fn an_offer_without_attachment_or_with_an_attribute_twice_is_refused() {
    let offer = |members: Value| {
        let mut value = json!({ "@id": "a", "@type": "https://didcomm.org/issue-credential/2.0/offer-credential" });
        value
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        read::<IssueSpeech>(&value)
    };
    assert!(matches!(offer(json!({})), Err(Unreadable::Rule(_))));
    assert!(matches!(
        offer(json!({ "formats": [{ "format": "hlindy/cred-abstract@v2.0" }] })),
        Err(Unreadable::Rule(_))
    ));
    let twice =
        json!({ "attributes": [{ "name": "a", "value": "1" }, { "name": "a", "value": "2" }] });
    let attached = json!({
        "credential_preview": twice,
        "formats": [{ "attach_id": "1", "format": "hlindy/cred-abstract@v2.0" }],
        "offers~attach": [{ "@id": "1", "data": { "base64": "e30" } }],
    });
    assert!(matches!(offer(attached), Err(Unreadable::Rule(_))));
}

/// RFC 0036 and RFC 0037: the attachments have no formats, and proposals no attachments.
#[test]
fn the_messages_of_version_1_are_read() {
    let proposal = read::<IssueSpeech>(&json!({
        "@type": "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/issue-credential/1.0/propose-credential",
        "@id": "a",
        "comment": "some comment",
        "credential_proposal": {
            "@type": "https://didcomm.org/issue-credential/1.0/credential-preview",
            "attributes": [{ "name": "vaccine", "value": "SARS-CoV2" }],
        },
        "schema_name": "vaccination",
        "issuer_did": "TwKz7Lnh9vd89s1C1Cyx8F",
    }));
    let proposal = payload(proposal.unwrap().content);
    let filter = proposal.in_format("hlindy/cred-filter@v2.0").unwrap();
    let filter: Value = serde_json::from_slice(filter).unwrap();
    assert_eq!(
        filter,
        json!({ "schema_name": "vaccination", "issuer_did": "TwKz7Lnh9vd89s1C1Cyx8F" })
    );
    let offer = read::<IssueSpeech>(&json!({
        "@type": "https://didcomm.org/issue-credential/1.0/offer-credential",
        "@id": "a",
        "credential_preview": { "attributes": [] },
        "offers~attach": [{ "@id": "libindy-cred-offer-0", "mime-type": "application/json", "data": { "base64": "e30=" } }],
    }));
    let offer = payload(offer.unwrap().content);
    assert_eq!(
        offer.in_format("hlindy/cred-abstract@v2.0"),
        Some(b"{}".as_slice())
    );
    let request = read::<ProofSpeech>(&json!({
        "@type": "https://didcomm.org/present-proof/1.0/request-presentation",
        "@id": "a",
        "request_presentations~attach": [{ "@id": "libindy-request-presentation-0", "data": { "base64": "e30=" } }],
    }));
    let request = payload(request.unwrap().content);
    assert_eq!(
        request.in_format("hlindy/proof-req@v2.0"),
        Some(b"{}".as_slice())
    );
    // The version 1.1 of RFC 0036 adds nothing that an answer needs.
    let later = read::<IssueSpeech>(&json!({
        "@type": "https://didcomm.org/issue-credential/1.1/propose-credential", "@id": "a", "cred_def_id": "c",
    }));
    assert!(later.is_ok());
}

/// RFC 0454: a proposal may name formats alone.
#[test]
fn a_proposal_that_names_formats_without_attachments_is_read() {
    let proposal = read::<ProofSpeech>(&json!({
        "@type": "https://didcomm.org/present-proof/2.0/propose-presentation",
        "@id": "a",
        "formats": [{ "format": "hlindy/proof-req@v2.0" }, { "format": "anoncreds/proof-request@v1.0" }],
    }));
    let proposal = payload(proposal.unwrap().content);
    assert_eq!(proposal.attachments.len(), 2);
    assert!(proposal.attachments.iter().all(|one| one.bytes.is_none()));
}

fn attached(format: &str) -> Payload {
    let attachments = vec![Formatted {
        attach_id: "0".to_owned(),
        format: format.to_owned(),
        bytes: Some(b"{}".to_vec()),
    }];
    Payload {
        attachments,
        ..Payload::default()
    }
}

fn start(protocol: &str) -> Outset {
    let opened = opening(&MessageType::new(protocol, Semver::new(2, 0), "x"));
    Outset {
        connection_id: Some("connection-1".to_owned()),
        ..opened
    }
}

#[test]
fn a_credential_is_issued_as_the_api_does_it_and_stored_once() {
    type Result = Advance<CredentialExchange>;
    let open = start("issue-credential");
    let issue = |footing: Footing<'_, _>, input: IssueInput, n| {
        issue_credential::step(footing, &input, &ctx(n))
    };
    let hear = |footing: Footing<'_, _>, from: &Result, n| {
        issue(
            footing,
            IssueInput::Received(over_the_wire(&only(from).message)),
            n,
        )
        .unwrap()
    };
    let offered = issue(
        Footing::New(&open),
        IssueInput::Offer(attached("hlindy/cred-abstract@v2.0")),
        1,
    )
    .unwrap();
    assert_eq!(only(&offered).message.id, offered.record.dialogue.thread_id);
    assert_eq!(
        offered.record.connection_id.as_deref(),
        Some("connection-1")
    );
    let holder = hear(Footing::New(&open), &offered, 2);
    let requested = issue(
        Footing::Known(&holder.record),
        IssueInput::Request(attached("hlindy/cred-req@v2.0")),
        3,
    )
    .unwrap();
    let issuer = hear(Footing::Known(&offered.record), &requested, 4);
    let issued = issue(
        Footing::Known(&issuer.record),
        IssueInput::Issue(attached("hlindy/cred@v2.0")),
        5,
    )
    .unwrap();
    let received = hear(Footing::Known(&requested.record), &issued, 6);
    assert_eq!(received.record.state, IssueState::CredentialReceived);
    let done = issue(Footing::Known(&received.record), IssueInput::Store, 7).unwrap();
    assert_eq!(done.record.state, IssueState::Done);
    assert_eq!(
        (only(&done).to, only(&done).message.kind.name.as_str()),
        (Recipient::Peer, "ack")
    );
    assert_eq!(only(&done).message.body["status"], "OK");
    let again = issue(Footing::Known(&stored(&done.record)), IssueInput::Store, 8).unwrap();
    assert!(again.is_repeated && again.send.is_empty());
    let ended = hear(Footing::Known(&issued.record), &done, 9);
    assert_eq!(ended.record.state, IssueState::Done);

    // Nothing but a revocation follows.
    let report = ProblemReport::default();
    for input in [
        IssueInput::Abandon(report),
        IssueInput::Store,
        IssueInput::Offer(Payload::default()),
    ] {
        assert!(issue(Footing::Known(&ended.record), input, 10).is_err());
    }
    let revoked = issue(Footing::Known(&ended.record), IssueInput::Revoke, 11).unwrap();
    assert_eq!(revoked.record.state, IssueState::CredentialRevoked);
    assert!(revoked.send.is_empty());
    let again = issue(Footing::Known(&revoked.record), IssueInput::Revoke, 12).unwrap();
    assert!(again.is_repeated);
    assert!(issue(Footing::Known(&offered.record), IssueInput::Revoke, 13).is_err());
}

#[test]
fn an_offer_sent_twice_is_sent_once_and_another_one_not_at_all() {
    let open = start("issue-credential");
    let offer = IssueInput::Offer(attached("hlindy/cred-abstract@v2.0"));
    let offered = issue_credential::step(Footing::New(&open), &offer, &ctx(1)).unwrap();
    let again = issue_credential::step(Footing::Known(&offered.record), &offer, &ctx(2)).unwrap();
    assert!(again.is_repeated);
    let other = IssueInput::Offer(attached("anoncreds/credential-offer@v1.0"));
    assert!(issue_credential::step(Footing::Known(&offered.record), &other, &ctx(3)).is_err());
}

#[test]
fn an_abandoned_issuance_has_the_code_of_the_rfc() {
    let open = start("issue-credential");
    let offer = IssueInput::Offer(attached("hlindy/cred-abstract@v2.0"));
    let offered = issue_credential::step(Footing::New(&open), &offer, &ctx(1)).unwrap();
    let given_up = IssueInput::Abandon(ProblemReport::default());
    let ended =
        issue_credential::step(Footing::Known(&offered.record), &given_up, &ctx(2)).unwrap();
    assert_eq!(
        only(&ended).message.body["description"]["code"],
        "issuance-abandoned"
    );
    assert_eq!(ended.record.state, IssueState::Abandoned);
}

type Proof = Advance<PresentationExchange>;

/// A request and its presentation: the verifier's record, and both of the prover's steps.
fn presented(will_confirm: Option<bool>, major: u16) -> (Proof, Proof) {
    let mut open = start("present-proof");
    open.kind.version = Semver::new(major, 0);
    let request = Payload {
        will_confirm,
        ..attached("hlindy/proof-req@v2.0")
    };
    let prove = |footing: Footing<'_, _>, input: ProofInput, n| {
        present_proof::step(footing, &input, &ctx(n)).unwrap()
    };
    let asked = prove(Footing::New(&open), ProofInput::Request(request), 1);
    let heard = ProofInput::Received(over_the_wire(&only(&asked).message));
    let prover = prove(Footing::New(&open), heard, 2);
    let shown = prove(
        Footing::Known(&prover.record),
        ProofInput::Present(attached("hlindy/proof@v2.0")),
        3,
    );
    let heard = ProofInput::Received(over_the_wire(&only(&shown).message));
    (prove(Footing::Known(&asked.record), heard, 4), shown)
}

fn judged(verifier: &PresentationExchange, verified: bool, n: usize) -> Proof {
    let messages = vec!["a remark".to_owned()];
    let input = ProofInput::Judge { verified, messages };
    present_proof::step(Footing::Known(verifier), &input, &ctx(n)).unwrap()
}

#[test]
fn a_proof_that_holds_is_acknowledged_if_the_verifier_said_so() {
    for (will_confirm, major) in [(Some(true), 2), (None, 1)] {
        let (verifier, prover) = presented(will_confirm, major);
        assert_eq!(prover.record.state, ProofState::PresentationSent);
        let done = judged(&verifier.record, true, 5);
        assert_eq!(
            (done.record.state, done.record.extra.verified),
            (ProofState::Done, Some(true))
        );
        assert_eq!(done.record.extra.verified_msgs, ["a remark"]);
        assert_eq!(only(&done).message.kind.name, "ack");
        let heard = ProofInput::Received(over_the_wire(&only(&done).message));
        let ended = present_proof::step(Footing::Known(&prover.record), &heard, &ctx(6)).unwrap();
        assert_eq!(ended.record.state, ProofState::Done);
        assert!(judged(&done.record, true, 7).is_repeated);
        let other = ProofInput::Judge {
            verified: false,
            messages: Vec::new(),
        };
        assert!(present_proof::step(Footing::Known(&done.record), &other, &ctx(8)).is_err());
    }
    // RFC 0454, "States": otherwise the prover is done at once.
    for will_confirm in [None, Some(false)] {
        let (verifier, prover) = presented(will_confirm, 2);
        assert_eq!(prover.record.state, ProofState::Done);
        let done = judged(&verifier.record, true, 5);
        assert_eq!(done.record.state, ProofState::Done);
        assert!(done.send.is_empty());
    }
}

#[test]
fn a_proof_that_does_not_hold_ends_done_for_the_verifier_and_abandoned_for_the_prover() {
    let (verifier, prover) = presented(Some(true), 2);
    let done = judged(&verifier.record, false, 5);
    assert_eq!(
        (done.record.state, done.record.extra.verified),
        (ProofState::Done, Some(false))
    );
    assert_eq!(only(&done).message.kind.name, "problem-report");
    let heard = ProofInput::Received(over_the_wire(&only(&done).message));
    let ended = present_proof::step(Footing::Known(&prover.record), &heard, &ctx(6)).unwrap();
    assert_eq!(ended.record.state, ProofState::Abandoned);
    assert_eq!(
        ended.record.message(ProofMessage::Presentation),
        verifier.record.message(ProofMessage::Presentation)
    );
}

#[test]
fn judging_what_was_not_presented_is_refused() {
    let input = ProofInput::Judge {
        verified: true,
        messages: Vec::new(),
    };
    assert!(present_proof::step(Footing::New(&start("present-proof")), &input, &ctx(1)).is_err());
    let (_, prover) = presented(Some(true), 2);
    assert!(present_proof::step(Footing::Known(&prover.record), &input, &ctx(1)).is_err());
}
