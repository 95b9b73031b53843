//! Connections over DIDComm v2: how they are made, what they carry, and what is refused.

use std::sync::atomic::{AtomicUsize, Ordering};

use selfsame_agent::connect::{NewOobInvitation, OobAnswer, OobInvitationView};
use selfsame_agent::issue::IssueWhat;
use selfsame_agent::present::{NamedRequest, NewProofRequest, ProofWhat};
use selfsame_agent::{AgentSettings, ExchangeFilter};
use selfsame_aries::peer_document::contained;
use selfsame_aries_v2::forms;
use selfsame_crypto::agreement::{AgreementCurve, AgreementKey, AgreementPrivate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jwe::ContentEncryption;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::method::peer::{PeerKey, create_with_keys};
use selfsame_did::{Did, DidUrl};
use selfsame_didcomm::keys::OneKey;
use selfsame_didcomm::message::{MessageType, PleaseAck, Semver, Thread};
use selfsame_didcomm::v2::{Documents, Opened, Packing, Sealable, SenderKey, encrypt, open};
use selfsame_didcomm::{Message, Version};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::alone::{beginning, offer, willing};
use super::every_message::{all_lasting, messages, records, restore, uncomplete};
use super::world::{Common, Connected, Peer, connected_of, invitation, two, two_of};

const V2: &str = "https://didcomm.org/didcomm/2.0";
const PROTOCOL: &str = "didcomm/2.0";

fn new() -> NewOobInvitation {
    NewOobInvitation {
        handshake_protocols: vec![V2.to_owned()],
        auto_accept: true,
        ..NewOobInvitation::default()
    }
}

fn answer(use_existing_connection: bool) -> OobAnswer {
    OobAnswer {
        alias: None,
        auto_accept: true,
        use_existing_connection,
        label: None,
        key_seconds: None,
    }
}

async fn invited(peer: &Peer, new: NewOobInvitation) -> OobInvitationView {
    let invited = peer.agents.create_oob_invitation(&peer.tenant, new);
    invited.await.unwrap()
}

async fn accepts(peer: &Peer, invited: &OobInvitationView) -> String {
    let members = invitation(&invited.invitation);
    let received = peer
        .agents
        .receive_oob_invitation(&peer.tenant, members, answer(false));
    received.await.unwrap().connection_id.unwrap()
}

#[tokio::test]
async fn an_invitation_of_version_2_makes_a_connection() {
    let (mut clinic, mut holder) = two().await;
    let invited = invited(&clinic, new()).await;
    let members = &invited.invitation;
    assert_eq!(
        members["type"],
        "https://didcomm.org/out-of-band/2.0/invitation"
    );
    assert_eq!(members["body"]["accept"], json!(["didcomm/v2"]));
    assert!(invited.invitation_url.contains("?_oob="));
    accepts(&holder, &invited).await;
    let asking = holder.reaches("request").await;
    assert_eq!(asking.connection_protocol, "didcomm/v2");
    clinic.takes().await; // a ping from a new DID
    holder.takes().await; // its answer
    let ours = clinic.reaches("active").await;
    let theirs = holder.reaches("active").await;
    assert_eq!(ours.connection_protocol, "didcomm/v2");
    assert_eq!(ours.my_did, theirs.their_did);
    assert_eq!(ours.their_did, theirs.my_did);
    assert_eq!(Some(&ours.connection_id), invited.connection_id.as_ref());
    // Each side has a DID of a peer method, whose service takes DIDComm v2.
    for did in [ours.my_did.unwrap(), theirs.my_did.unwrap()] {
        let document = contained(&did.parse().unwrap()).unwrap();
        assert_eq!(document.service[0].type_, ["DIDCommMessaging"]);
    }
    let record = clinic.agents.oob_record(&clinic.tenant, &invited.oob_id);
    assert_eq!(record.await.unwrap().state, "done");
}

#[tokio::test]
async fn the_invited_side_answers_with_a_did_of_the_kind_that_invited() {
    use selfsame_agent::connect::{InvitationDid, OwnDid};
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        did: Some(InvitationDid::New(OwnDid::Peer4)),
        ..new()
    };
    let invited = invited(&clinic, new).await;
    accepts(&holder, &invited).await;
    clinic.takes().await;
    holder.takes().await;
    let theirs = holder.reaches("active").await;
    assert!(theirs.my_did.unwrap().starts_with("did:peer:4"));
}

#[tokio::test]
async fn each_who_uses_an_invitation_for_many_meets_another_did() {
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        multi_use: true,
        ..new()
    };
    let invited = invited(&clinic, new).await;
    let mut dids = Vec::new();
    for _ in 0..2 {
        accepts(&holder, &invited).await;
        clinic.takes().await; // the ping to the DID of the invitation
        holder.takes().await; // the answer from another one, with `from_prior`
        let theirs = holder.reaches("active").await;
        let did = theirs.their_did.clone().unwrap();
        assert_ne!(Some(did.as_str()), invited.invitation["from"].as_str());
        dids.push(did);
        // What is written to the new DID needs no `from_prior` any more.
        let ping = holder
            .agents
            .ping(&holder.tenant, &theirs.connection_id, None);
        ping.await.unwrap();
        clinic.takes().await;
        holder.takes().await;
    }
    dids.dedup();
    assert_eq!(dids.len(), 2);
    assert_eq!(clinic.connections().await.len(), 3);
}

#[tokio::test]
async fn a_controller_decides_who_is_accepted() {
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        auto_accept: false,
        ..new()
    };
    let invited = invited(&clinic, new).await;
    accepts(&holder, &invited).await;
    clinic.takes().await;
    let asked = clinic.reaches("request").await;
    assert_eq!(asked.rfc23_state, "request-received");
    let accepted = clinic
        .agents
        .accept_connection(&clinic.tenant, &asked.connection_id);
    assert_eq!(accepted.await.unwrap().state, "active");
    holder.takes().await; // a ping says so
    holder.reaches("active").await;
}

#[tokio::test]
async fn a_controller_refuses_who_wrote_and_the_peer_hears_it() {
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        auto_accept: false,
        ..new()
    };
    let invited = invited(&clinic, new).await;
    accepts(&holder, &invited).await;
    clinic.takes().await;
    let asked = clinic.reaches("request").await;
    let refused = clinic.agents.reject_connection(
        &clinic.tenant,
        &asked.connection_id,
        Some("Not today.".to_owned()),
    );
    assert_eq!(refused.await.unwrap().state, "error");
    holder.takes().await;
    let told = holder.reaches("error").await;
    assert!(told.error_msg.unwrap().contains("request-not-accepted"));
}

#[tokio::test]
async fn who_uses_an_invitation_for_one_second_gets_a_report() {
    let (mut clinic, mut holder) = two().await;
    let invited = invited(&clinic, new()).await;
    accepts(&holder, &invited).await;
    clinic.takes().await;
    holder.takes().await;
    let before = clinic.reaches("active").await;
    accepts(&holder, &invited).await;
    let refused = clinic.refuses().await;
    assert_eq!(refused.kind, ErrorKind::Conflict);
    holder.takes().await; // the report
    holder.reaches("error").await;
    assert_eq!(clinic.connections().await, [before]);
}

#[tokio::test]
async fn an_invitation_of_a_did_that_is_known_makes_no_second_connection() {
    use selfsame_agent::connect::{InvitationDid, OwnDid};
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        did: Some(InvitationDid::Common(OwnDid::Peer2)),
        ..new()
    };
    let first = invited(&clinic, new.clone()).await;
    let known = accepts(&holder, &first).await;
    clinic.takes().await;
    holder.takes().await;
    holder.reaches("active").await;
    let again = invited(&clinic, new).await;
    assert_eq!(first.invitation["from"], again.invitation["from"]);
    let members = invitation(&again.invitation);
    let received = holder
        .agents
        .receive_oob_invitation(&holder.tenant, members, answer(true));
    let received = received.await.unwrap();
    assert_eq!(received.state, "done");
    assert_eq!(received.connection_id, Some(known));
    assert_eq!(holder.connections().await.len(), 1);
}

/// The verifier's exchange, once the holder presented.
async fn proven(both: &mut Connected, definition: &str) -> Value {
    let request = json!({
        "name": "blood", "version": "1.0",
        "requested_attributes": {
            "blood": {"name": "blood", "restrictions": [{"cred_def_id": definition}]},
        },
        "requested_predicates": {},
    });
    let what = ProofWhat::Request(Some(NewProofRequest {
        requests: vec![NamedRequest {
            format: "anoncreds".to_owned(),
            request,
        }],
        ..NewProofRequest::default()
    }));
    let proving = both.clinic.agents.proving();
    let begin = beginning(Some(&both.of_clinic));
    let begun = proving.begin(&both.clinic.tenant, &begin, what).await;
    let id = begun.unwrap()["pres_ex_id"].as_str().unwrap().to_owned();
    both.holder.takes().await; // the request
    both.clinic.takes().await; // the presentation
    let proving = both.clinic.agents.proving();
    proving.one(&both.clinic.tenant, &id).await.unwrap()
}

#[tokio::test]
async fn a_credential_is_issued_and_proven() {
    let common = Common::with_registry(willing());
    let mut both = connected_of(&common, PROTOCOL).await;
    let definition = both.clinic.defines(None).await;
    let what = IssueWhat::Offer(Some(offer(&definition)));
    let issuing = both.clinic.agents.issuing();
    let begin = beginning(Some(&both.of_clinic));
    let begun = issuing.begin(&both.clinic.tenant, &begin, what).await;
    let id = begun.unwrap()["cred_ex_id"].as_str().unwrap().to_owned();
    both.holder.takes().await; // the offer
    both.clinic.takes().await; // the request
    both.holder.takes().await; // the credential
    both.clinic.takes().await; // it is kept
    both.clinic.issuing_is(&id, "done").await;
    let verified = proven(&mut both, &definition).await;
    assert_eq!(verified["state"], "done", "{verified}");
    assert_eq!(verified["verified"], "true");
}

#[tokio::test]
async fn an_offer_attached_to_an_invitation_is_answered_once_there_is_a_connection() {
    let common = Common::with_registry(willing());
    let (mut clinic, mut holder) = two_of(&common).await;
    let definition = clinic.defines(None).await;
    let what = IssueWhat::Offer(Some(offer(&definition)));
    let issuing = clinic.agents.issuing();
    let begun = issuing.begin(&clinic.tenant, &beginning(None), what).await;
    let id = begun.unwrap()["cred_ex_id"].as_str().unwrap().to_owned();
    let first = issuing.unsent(&clinic.tenant, &id).await.unwrap();
    let new = NewOobInvitation {
        requests: vec![first],
        ..new()
    };
    let invited = invited(&clinic, new).await;
    let attached = &invited.invitation["attachments"][0]["data"]["json"];
    assert_eq!(
        attached["type"],
        "https://didcomm.org/issue-credential/3.0/offer-credential"
    );
    accepts(&holder, &invited).await;
    clinic.takes().await; // the ping
    holder.takes().await; // its answer
    clinic.takes().await; // the request
    holder.takes().await; // the credential
    clinic.takes().await; // it is kept
    clinic.issuing_is(&id, "done").await;
    let (paging, filter) = (Paging::default(), ExchangeFilter::default());
    let held = holder.agents.issuing();
    let held = held.list(&holder.tenant, &filter, &paging).await.unwrap();
    assert_eq!(held.items[0]["state"], "done");
}

#[tokio::test]
async fn a_protocol_without_a_form_in_version_2_is_refused_and_leaves_nothing() {
    let common = Common::with_registry(willing());
    let both = connected_of(&common, PROTOCOL).await;
    let definition = both.clinic.defines(None).await;
    let what = IssueWhat::Offer(Some(offer(&definition)));
    let begin = selfsame_agent::ExchangeBegin {
        major: 1,
        ..beginning(Some(&both.of_clinic))
    };
    let issuing = both.clinic.agents.issuing();
    let refused = issuing.begin(&both.clinic.tenant, &begin, what).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.reason.id(), "aries-v2-unspoken");
    let (paging, filter) = (Paging::default(), ExchangeFilter::default());
    let listed = issuing.list(&both.clinic.tenant, &filter, &paging).await;
    assert!(listed.unwrap().items.is_empty());
}

/// Somebody else who speaks DIDComm v2: keys, a DID, and an endpoint that keeps what comes.
struct Foreign {
    agreement: AgreementPrivate,
    did: Did,
    listener: TcpListener,
}

impl Foreign {
    /// One whose messages go to this address on this machine.
    async fn bound() -> (Self, url::Origin) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let origin = url.parse::<url::Url>().unwrap().origin();
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let agreement = AgreementPrivate::generate(AgreementCurve::X25519).unwrap();
        let keys = [
            PeerKey::authentication(key.public()),
            PeerKey::agreement(agreement.public()),
        ];
        let service = json!({
            "type": "DIDCommMessaging",
            "serviceEndpoint": {"uri": url, "accept": ["didcomm/v2"]},
        });
        let did = create_with_keys(&keys, &[service.as_object().unwrap().clone()]).unwrap();
        let foreign = Self {
            agreement,
            did,
            listener,
        };
        (foreign, origin)
    }

    fn kid(&self) -> DidUrl {
        let document = contained(&self.did).unwrap();
        let is_own = |key: &AgreementKey| key == self.agreement.public();
        let mut keys = document.agreement_keys();
        keys.find(|(_, key)| is_own(key)).unwrap().0
    }

    /// A message of this one to a DID.
    fn message(&self, to: &Did, kind: MessageType, id: &str) -> Message {
        let mut message = Message::new(kind, id);
        message.from = Some(self.did.clone().into());
        message.to = vec![to.clone().into()];
        message
    }

    fn packed(&self, to: &Did, message: &Message) -> Vec<u8> {
        let (document, kid) = (contained(to).unwrap(), self.kid());
        let from = message.from.as_ref().map(|_| SenderKey {
            kid: &kid,
            key: &self.agreement,
        });
        let packing = Packing {
            to: &document,
            from,
            enc: ContentEncryption::A256CbcHs512,
            hides_sender: false,
        };
        let ctx = Ctx::new(UnixTime(1_700_000_000), [9; 32]);
        encrypt(Sealable::Plain(message), &packing, &ctx).unwrap()
    }

    /// The next message that comes.
    async fn gets(&self, from: &Did) -> Opened {
        let (stream, _) = self.listener.accept().await.unwrap();
        let envelope = super::world::posted(stream).await;
        let kid = self.kid().to_string();
        let ring = OneKey {
            kid: &kid,
            key: &self.agreement,
        };
        let documents = Documents::from([(from.clone(), contained(from).unwrap())]);
        open(&envelope, &ring, &documents).unwrap()
    }
}

fn ping(version: u16) -> MessageType {
    MessageType::new("trust-ping", Semver::new(version, 0), "ping")
}

/// A clinic, somebody foreign, and the DID of an invitation of the clinic with its identifier.
async fn met(settings: AgentSettings) -> (Peer, Foreign, Did, String) {
    let (foreign, origin) = Foreign::bound().await;
    let common = Common::of(settings).calling(origin);
    let (clinic, _) = two_of(&common).await;
    let invited = invited(&clinic, new()).await;
    let did = invited.invitation["from"].as_str().unwrap();
    let did = did.parse().unwrap();
    (clinic, foreign, did, invited.invi_msg_id)
}

#[tokio::test]
async fn a_foreign_agent_connects_asks_and_gets_its_acknowledgements() {
    let (clinic, foreign, did, invitation) = met(AgentSettings::default()).await;
    let mut first = foreign.message(&did, ping(2), "ping-1");
    first.thread.pthid = Some(invitation);
    first.please_ack = Some(PleaseAck {
        on: Vec::new(),
        ids: vec![String::new()],
    });
    let envelope = foreign.packed(&did, &first);
    clinic.agents.receive(envelope.clone()).await.unwrap();
    let pong = foreign.gets(&did).await;
    assert_eq!(
        pong.message.kind.to_string(),
        "https://didcomm.org/trust-ping/2.0/ping-response"
    );
    assert_eq!(pong.message.thread.thid.as_deref(), Some("ping-1"));
    assert!(pong.message.created.is_some());
    assert_eq!(pong.sender.unwrap().did, did);
    let ack = foreign.gets(&did).await.message;
    assert_eq!(ack.kind.protocol, "empty");
    assert_eq!(ack.acks, ["ping-1"]);

    let kind = MessageType::new("discover-features", Semver::new(2, 0), "queries");
    let mut query = foreign.message(&did, kind, "query-1");
    let asked =
        json!([{"feature-type": "protocol", "match": "https://didcomm.org/trust-ping/2.*"}]);
    query.body.insert("queries".to_owned(), asked);
    let envelope = foreign.packed(&did, &query);
    clinic.agents.receive(envelope).await.unwrap();
    let disclosed = foreign.gets(&did).await.message;
    assert_eq!(disclosed.kind.name, "disclose");
    let ids = &disclosed.body["disclosures"];
    assert_eq!(ids[0]["id"], "https://didcomm.org/trust-ping/2.0");
    assert_eq!(clinic.connections().await.len(), 1);
}

/// What a refused envelope must leave as it is.
async fn is_refused(clinic: &Peer, envelope: Vec<u8>) -> selfsame_driver::Error {
    let before = clinic.connections().await;
    let refused = clinic.agents.receive(envelope).await.unwrap_err();
    assert_eq!(clinic.connections().await, before);
    refused
}

#[tokio::test]
async fn a_message_of_no_connection_and_no_invitation_is_refused() {
    let (clinic, foreign, did, invitation) = met(AgentSettings::default()).await;
    let mut message = foreign.message(&did, ping(2), "ping-1");
    for parent in [None, Some("another".to_owned())] {
        message.thread.pthid = parent;
        let refused = is_refused(&clinic, foreign.packed(&did, &message)).await;
        assert_eq!(refused.kind, ErrorKind::NotFound);
    }
    // An anonymous sender begins no connection.
    message.thread.pthid = Some(invitation);
    message.from = None;
    let refused = is_refused(&clinic, foreign.packed(&did, &message)).await;
    assert_eq!(refused.kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn an_envelope_for_another_key_or_changed_on_the_way_is_refused() {
    let (clinic, foreign, did, invitation) = met(AgentSettings::default()).await;
    let mut message = foreign.message(&did, ping(2), "ping-1");
    message.thread.pthid = Some(invitation);
    let envelope = foreign.packed(&did, &message);
    let own = foreign.packed(&foreign.did, &foreign.message(&foreign.did, ping(2), "own"));
    assert_eq!(
        is_refused(&clinic, own).await.reason.id(),
        "aries-key-unknown"
    );
    let mut changed: Value = serde_json::from_slice(&envelope).unwrap();
    let text = changed["ciphertext"].as_str().unwrap();
    let first = if text.starts_with('A') { "B" } else { "A" };
    let text = format!("{first}{}", &text[1..]);
    changed["ciphertext"] = json!(text);
    let changed = changed.to_string().into_bytes();
    assert_eq!(
        is_refused(&clinic, changed).await.kind,
        ErrorKind::BadRequest
    );
    // Nor is what is not encrypted.
    let plain = message.write(Version::V2);
    assert_eq!(is_refused(&clinic, plain).await.kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_with_a_report_and_changes_nothing() {
    let (clinic, foreign, did, invitation) = met(AgentSettings::default()).await;
    let mut first = foreign.message(&did, ping(2), "ping-1");
    first.thread.pthid = Some(invitation);
    let envelope = foreign.packed(&did, &first);
    clinic.agents.receive(envelope).await.unwrap();
    foreign.gets(&did).await;
    let offer = MessageType::new("issue-credential", Semver::new(3, 0), "offer-credential");
    for (kind, code) in [
        (ping(3), "e.m.msg.version-not-supported"),
        (
            MessageType::new("tic-tac-toe", Semver::new(1, 0), "move"),
            "e.m.msg.unsupported",
        ),
        // Messages of version 1 are none of version 2.
        (
            MessageType::new("didexchange", Semver::new(1, 1), "request"),
            "e.m.msg.unsupported",
        ),
        (offer, "e.m.msg.malformed"),
    ] {
        let message = foreign.message(&did, kind, "unread-1");
        let refused = is_refused(&clinic, foreign.packed(&did, &message)).await;
        assert_eq!(refused.kind, ErrorKind::BadRequest);
        let report = foreign.gets(&did).await.message;
        assert_eq!(
            report.kind.to_string(),
            "https://didcomm.org/report-problem/2.0/problem-report"
        );
        assert_eq!(report.body["code"], code);
        assert_eq!(report.thread.pthid.as_deref(), Some("unread-1"));
    }
    // A report is answered with none.
    let kind = MessageType::new("report-problem", Semver::new(2, 0), "problem-report");
    let mut report = foreign.message(&did, kind, "report-1");
    report.body.insert("code".to_owned(), json!("e.p.xfer"));
    report.thread.pthid = Some("nothing".to_owned());
    let envelope = foreign.packed(&did, &report);
    clinic.agents.receive(envelope).await.unwrap();
    let told = clinic.told("problem_report").await;
    assert_eq!(told[0]["description"]["code"], "xfer");
}

#[tokio::test]
async fn an_expired_message_is_refused() {
    let (clinic, foreign, did, invitation) = met(AgentSettings::default()).await;
    let mut first = foreign.message(&did, ping(2), "ping-1");
    first.thread.pthid = Some(invitation);
    first.expires = Some(UnixTime(1));
    let refused = is_refused(&clinic, foreign.packed(&did, &first)).await;
    assert_eq!(refused.kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn a_rotation_that_the_former_did_did_not_sign_is_refused() {
    let (clinic, foreign, did, invitation) = met(AgentSettings::default()).await;
    let mut first = foreign.message(&did, ping(2), "ping-1");
    first.thread.pthid = Some(invitation);
    let envelope = foreign.packed(&did, &first);
    clinic.agents.receive(envelope).await.unwrap();
    let (other, _) = Foreign::bound().await;
    let mut stolen = other.message(&did, ping(2), "ping-2");
    // A JWT of the thief about the DID of the connection.
    let header = json!({"typ": "JWT", "alg": "EdDSA", "kid": format!("{}#key-1", foreign.did)});
    let claims = json!({"iss": foreign.did, "sub": other.did, "iat": 1});
    let encoded =
        |value: &Value| selfsame_crypto::encoding::base64url_encode(value.to_string().as_bytes());
    let signature = selfsame_crypto::encoding::base64url_encode(&[7; 64]);
    let jwt = format!("{}.{}.{signature}", encoded(&header), encoded(&claims));
    stolen.from_prior = Some(jwt);
    let refused = is_refused(&clinic, other.packed(&did, &stolen)).await;
    assert_eq!(refused.kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn invitations_of_version_2_that_cannot_be_answered_are_refused() {
    let (clinic, holder) = two().await;
    let good = invitation(&invited(&clinic, new()).await.invitation);
    let mut wrong = Vec::new();
    for (name, value) in [
        ("from", Value::Null),
        ("from", json!("nobody")),
        (
            "type",
            json!("https://didcomm.org/out-of-band/3.0/invitation"),
        ),
        ("type", json!("https://didcomm.org/trust-ping/2.0/ping")),
        ("body", json!({"accept": ["didcomm/aip1"]})),
        ("body", json!({"accept": "didcomm/v2"})),
        ("attachments", json!([{"id": "1"}])),
    ] {
        let mut members = good.clone();
        members.insert(name.to_owned(), value);
        wrong.push(members);
    }
    for members in wrong {
        let received =
            holder
                .agents
                .receive_oob_invitation(&holder.tenant, members.clone(), answer(true));
        let refused = received.await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest, "{members:?}");
    }
    assert!(holder.connections().await.is_empty());
}

/// Each example of the RFCs as DIDComm v2 writes it, or as it is if it has no form there.
fn examples(foreign: &Foreign, to: &Did) -> Vec<Message> {
    let read = messages().into_iter().map(|members| {
        let example = Message::from_members(members, Version::V1).unwrap();
        let written = forms::write(&example).unwrap_or(example);
        Message {
            thread: Thread::default(),
            body: written.body.clone(),
            attachments: written.attachments.clone(),
            ..foreign.message(to, written.kind, "example")
        }
    });
    read.collect()
}

/// Gives the agent each example in each of these threads, and takes back what it does. What is refused changes nothing.
async fn sweep(clinic: &Peer, foreign: &Foreign, did: &Did, threads: &[&str]) -> [usize; 2] {
    let before = records(clinic).await;
    let mut counted = [0, 0];
    let threads = std::iter::once(None).chain(threads.iter().copied().map(Some));
    for thread in threads {
        for (at, mut message) in examples(foreign, did).into_iter().enumerate() {
            message.id = format!("{at}-{}", fresh());
            message.thread.thid = thread.map(str::to_owned);
            message.thread.pthid = thread.map(str::to_owned);
            let envelope = foreign.packed(did, &message);
            match clinic.agents.receive(envelope).await {
                Ok(()) => counted[0] += 1,
                Err(error) => {
                    counted[1] += 1;
                    let (mut after, was) =
                        (all_lasting(&records(clinic).await), all_lasting(&before));
                    uncomplete(&mut after, &was);
                    assert_eq!(after, was, "{error:?}: {message:?}");
                }
            }
            restore(clinic, &before).await;
        }
    }
    counted
}

/// A number that no message had before.
fn fresh() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[tokio::test]
async fn no_message_is_out_of_place_in_any_state_over_version_2() {
    let (mut foreign, origin) = Foreign::bound().await;
    // It takes what comes, and says nothing.
    let nowhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = std::mem::replace(&mut foreign.listener, nowhere);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(super::world::posted(stream));
        }
    });
    let settings = AgentSettings {
        preserve_exchange_records: true,
        ..AgentSettings::default()
    };
    let common = Common::with_registry(settings).calling(origin);
    let (clinic, _) = two_of(&common).await;
    let new = NewOobInvitation {
        auto_accept: false,
        ..new()
    };
    let invited = invited(&clinic, new).await;
    let did: Did = invited.invitation["from"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let invitation = invited.invi_msg_id.as_str();
    let [taken, refused] = sweep(&clinic, &foreign, &did, &["other"]).await;
    assert!(taken == 0 && refused > 0);

    let mut first = foreign.message(&did, ping(2), "first");
    first.thread.pthid = Some(invitation.to_owned());
    let envelope = foreign.packed(&did, &first);
    clinic.agents.receive(envelope).await.unwrap();
    let asked = clinic.reaches("request").await;
    sweep(&clinic, &foreign, &did, &["first", invitation]).await;

    let id = asked.connection_id;
    let accepted = clinic.agents.accept_connection(&clinic.tenant, &id);
    accepted.await.unwrap();
    let [taken, refused] = sweep(&clinic, &foreign, &did, &["first", invitation]).await;
    assert!(taken > 0 && refused > 0);

    let definition = clinic.defines(None).await;
    let what = IssueWhat::Offer(Some(offer(&definition)));
    let issuing = clinic.agents.issuing();
    let begin = beginning(Some(&id));
    let begun = issuing.begin(&clinic.tenant, &begin, what).await.unwrap();
    let offered = begun["thread_id"].as_str().unwrap();
    sweep(&clinic, &foreign, &did, &[offered]).await;
}
