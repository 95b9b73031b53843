//! Every message of every protocol reaches an agent in every state of a connection and of its exchanges. What is refused
//! changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use selfsame_agent::connect::{NewOobInvitation, OobAnswer};
use selfsame_agent::issue::{IssueWhat, NewCredentialProposal};
use selfsame_agent::present::{NamedRequest, NewPresentation, NewProofRequest, ProofWhat};
use selfsame_agent::{AgentSettings, ExchangeBegin, ExchangeFilter, Wishes};
use selfsame_aries::key::VerKey;
use selfsame_aries::protocol::PROTOCOLS;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_didcomm::v1::{self, Envelope};
use selfsame_driver::paging::Paging;
use selfsame_store::{Batch, Page, Record};
use serde_json::{Map, Value, json};

use super::alone::offer;
use super::world::{Common, Peer, invitation, two_of};

/// The examples of the RFCs, at least one of each protocol.
const MESSAGES: &str = include_str!("../../../../vectors/aries/messages.json");
/// The kinds of the records of an agent.
const KINDS: [&str; 5] = [
    "aries_connection",
    "aries_issuing",
    "aries_proving",
    "aries_oob",
    "aries_discovery",
];
/// Ends a connection on the other side: its record is removed, and can't be brought back with its tags.
const HANGUP: &str = "/hangup";
/// What changes when a message was delivered, at any time after a step.
const AFTER_DELIVERY: &str = "untold";

pub type Lasting = BTreeMap<(&'static str, String), Value>;
pub type Records = BTreeMap<(&'static str, String), Record>;

/// One message of each type.
pub fn messages() -> Vec<Map<String, Value>> {
    let vectors: Value = serde_json::from_str(MESSAGES).unwrap();
    let cases = vectors["cases"].as_array().unwrap().iter();
    let cases = cases.map(|case| case["message"].as_object().unwrap().clone());
    let by_type: BTreeMap<String, _> = cases
        .map(|message| (message["@type"].as_str().unwrap().to_owned(), message))
        .collect();
    for protocol in PROTOCOLS {
        let named = format!("/{}/", protocol.name);
        assert!(by_type.keys().any(|kind| kind.contains(&named)), "{named}");
    }
    let lasting = by_type
        .into_iter()
        .filter(|(kind, _)| !kind.ends_with(HANGUP));
    lasting.map(|(_, message)| message).collect()
}

pub async fn records(peer: &Peer) -> Records {
    let mut found = Records::new();
    for kind in KINDS {
        let page = Page::first(100);
        let listed = peer.store.list(&peer.tenant, kind, &page).await.unwrap();
        found.extend(listed.into_iter().map(|one| ((kind, one.id.clone()), one)));
    }
    found
}

/// The record, without what a delivery changes.
fn lasting(record: &Record) -> Value {
    let mut value: Value = serde_json::from_slice(&record.value).unwrap();
    if let Some(members) = value.as_object_mut() {
        members.remove(AFTER_DELIVERY);
    }
    value
}

pub fn all_lasting(records: &Records) -> Lasting {
    let all = records.iter();
    all.map(|(at, record)| (at.clone(), lasting(record)))
        .collect()
}

/// Takes back that a connection is complete. A message that shows that the peer has got the response completes it, also
/// one that its own protocol refuses (RFC 0160 §3).
pub fn uncomplete(after: &mut Lasting, before: &Lasting) {
    for (at, now) in after.iter_mut().filter(|((kind, _), _)| *kind == KINDS[0]) {
        let Some(was) = before.get(at) else {
            continue;
        };
        let states = [&was["record"]["state"], &now["record"]["state"]];
        if states == ["response/1", "active/1"] {
            now["record"]["state"] = was["record"]["state"].clone();
            now["record"]["history"] = was["record"]["history"].clone();
            now["record"]["dialogue"]["updated_at"] =
                was["record"]["dialogue"]["updated_at"].clone();
        }
    }
}

/// Brings the records back to what they were.
pub async fn restore(peer: &Peer, before: &Records) {
    for _ in 0..50 {
        let mut batch = Batch::new(peer.tenant.clone());
        for ((kind, id), now) in records(peer).await {
            batch = match before.get(&(kind, id.clone())) {
                Some(was) if lasting(was) == lasting(&now) => batch,
                Some(was) => batch.update(kind, &now, was.value.clone()),
                None => batch.delete(kind, &id),
            };
        }
        if peer.store.commit(batch).await.is_ok() {
            break;
        }
    }
    assert_eq!(all_lasting(&records(peer).await), all_lasting(before));
}

/// The keys with which one agent writes to the other.
struct Channel {
    to: VerKey,
    from: Arc<PrivateKey>,
}

impl Channel {
    /// Those of the envelope that `receiver` was sent last.
    async fn of_last(sender: &Peer, receiver: &Peer) -> Self {
        let envelope = Envelope::read(&receiver.last_envelope()).unwrap();
        let to = VerKey::parse(envelope.kids().next().unwrap()).unwrap();
        let own = held(receiver, &to).await;
        let own = AgreementPrivate::of_ed25519(&own).unwrap();
        let ring = BTreeMap::from([(to.to_base58(), own)]);
        let opened = v1::unpack(&envelope, &ring).unwrap();
        let sender_key = VerKey::new(opened.sender.unwrap()).unwrap();
        Self {
            to,
            from: held(sender, &sender_key).await,
        }
    }

    /// From a key that nobody knows.
    async fn of_stranger(stranger: &Peer, to: VerKey) -> Self {
        let batch = Batch::new(stranger.tenant.clone());
        let keys = &stranger.shared.keys;
        let (_, handle, batch) = keys
            .create(&stranger.tenant, KeyType::Ed25519, batch)
            .unwrap();
        stranger.store.commit(batch).await.unwrap();
        let from = keys.unsealed(&stranger.tenant, &handle).await.unwrap();
        Self { to, from }
    }

    /// The other way round.
    async fn reversed(&self, receiver: &Peer) -> Self {
        Self {
            from: held(receiver, &self.to).await,
            to: VerKey::new(self.from.public().clone()).unwrap(),
        }
    }
}

/// Waits until nothing is posted to this peer for a while.
async fn hears_no_more(peer: &Peer) {
    loop {
        let last = peer.last_envelope();
        tokio::time::sleep(Duration::from_millis(300)).await;
        if peer.last_envelope() == last {
            return;
        }
    }
}

async fn held(peer: &Peer, key: &VerKey) -> Arc<PrivateKey> {
    let keys = &peer.shared.keys;
    keys.unsealed(&peer.tenant, &key.handle()).await.unwrap()
}

/// What the messages were given in, and how many were taken.
#[derive(Default)]
struct Swept {
    states: BTreeSet<String>,
    taken: usize,
    refused: usize,
}

impl Swept {
    /// Gives `receiver` every message as from `sender`: without a thread, and in each of these.
    async fn sweep(&mut self, peers: [&Peer; 2], channel: &Channel, threads: &[&str]) {
        let [sender, receiver] = peers;
        sender.goes_away();
        let before = records(receiver).await;
        self.note(&before);
        let threads = std::iter::once(None).chain(threads.iter().copied().map(Some));
        for thread in threads {
            for (at, message) in messages().into_iter().enumerate() {
                let mut message = message;
                let id = format!("{}-{at}-{thread:?}", self.taken + self.refused);
                message.insert("@id".to_owned(), json!(id));
                match thread {
                    Some(thread) => {
                        let thread = json!({ "thid": thread, "pthid": thread });
                        message.insert("~thread".to_owned(), thread);
                    }
                    None => drop(message.remove("~thread")),
                }
                self.give(receiver, channel, &message, &before).await;
            }
        }
        // Answers that are under way are lost as well.
        hears_no_more(sender).await;
        sender.comes_back();
    }

    async fn give(
        &mut self,
        receiver: &Peer,
        channel: &Channel,
        message: &Map<String, Value>,
        before: &Records,
    ) {
        let plaintext = serde_json::to_vec(message).unwrap();
        let (to, ctx) = (channel.to.public_key().clone(), receiver.shared.clock.ctx());
        let envelope = v1::pack(&plaintext, &[to], Some(&channel.from), &ctx).unwrap();
        match receiver.agents.receive(envelope).await {
            Ok(()) => {
                self.taken += 1;
                restore(receiver, before).await;
            }
            Err(error) => {
                self.refused += 1;
                let (mut after, before_it) =
                    (all_lasting(&records(receiver).await), all_lasting(before));
                if after != before_it {
                    uncomplete(&mut after, &before_it);
                    restore(receiver, before).await;
                }
                assert_eq!(after, before_it, "{error:?} changed a record: {message:?}");
            }
        }
    }

    fn note(&mut self, records: &Records) {
        for ((kind, _), record) in records {
            let value = lasting(record);
            let inner = value.get("record").or_else(|| value.get("exchange"));
            let state = inner.and_then(|inner| inner.get("state"));
            if let Some(state) = state.and_then(Value::as_str) {
                self.states.insert(format!("{kind} {state}"));
            }
        }
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap().to_owned()
}

/// Two agents on the way to a connection; each state meets every message from both sides.
async fn connect(protocol: &str, swept: &mut Swept) -> Connected {
    let settings = AgentSettings {
        preserve_exchange_records: true,
        ..AgentSettings::default()
    };
    let (mut clinic, holder) = two_of(&Common::with_registry(settings)).await;
    let new = NewOobInvitation {
        handshake_protocols: vec![format!("https://didcomm.org/{protocol}")],
        ..NewOobInvitation::default()
    };
    let invited = clinic.agents.create_oob_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    let thread = invited.invi_msg_id.clone();
    let threads = [thread.as_str()];
    let key = clinic.connections().await[0].invitation_key.clone();
    let key = VerKey::parse(&key.unwrap()).unwrap();
    let stranger = Channel::of_stranger(&holder, key).await;
    swept.sweep([&holder, &clinic], &stranger, &threads).await;

    let answer = OobAnswer {
        alias: None,
        auto_accept: true,
        use_existing_connection: false,
        label: None,
        key_seconds: None,
    };
    let members = invitation(&invited.invitation);
    let received = holder
        .agents
        .receive_oob_invitation(&holder.tenant, members, answer);
    let of_holder = received.await.unwrap().connection_id.unwrap();
    clinic.takes().await;
    let of_clinic = clinic.reaches("request").await;
    let request = of_clinic.request_id.clone().unwrap_or_default();
    let threads = [thread.as_str(), request.as_str()];
    let channel = Channel::of_last(&holder, &clinic).await;
    both_ways(swept, [&holder, &clinic], &channel, &threads).await;

    holder.goes_away();
    let before = holder.last_envelope();
    let accepted = clinic
        .agents
        .accept_connection(&clinic.tenant, &of_clinic.connection_id);
    accepted.await.unwrap();
    for _ in 0..3_000 {
        if holder.last_envelope() != before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    hears_no_more(&holder).await;
    holder.comes_back();
    let response = holder.last_envelope();
    let channel = Channel::of_last(&clinic, &holder).await;
    both_ways(swept, [&clinic, &holder], &channel, &threads).await;

    holder.agents.receive(response).await.unwrap();
    holder.reaches("active").await;
    clinic.takes().await;
    clinic.reaches("active").await;
    both_ways(swept, [&clinic, &holder], &channel, &threads).await;
    let ids = [of_clinic.connection_id, of_holder];
    Connected {
        clinic,
        holder,
        channel,
        ids,
    }
}

/// Both sides meet every message: the second over this channel, the first over the way back.
async fn both_ways(swept: &mut Swept, peers: [&Peer; 2], there: &Channel, threads: &[&str]) {
    let [one, other] = peers;
    swept.sweep([one, other], there, threads).await;
    let back = there.reversed(other).await;
    swept.sweep([other, one], &back, threads).await;
}

/// Two connected agents, and the channel from the clinic to the holder.
struct Connected {
    clinic: Peer,
    holder: Peer,
    channel: Channel,
    /// The identifiers of the connection: the clinic's, the holder's.
    ids: [String; 2],
}

impl Connected {
    /// Both sides of an exchange meet every message.
    async fn meet(&self, swept: &mut Swept, thread: &str) {
        let peers = [&self.clinic, &self.holder];
        both_ways(swept, peers, &self.channel, &[thread]).await;
    }

    /// A credential is proposed, offered, requested, issued and kept.
    async fn issue(&mut self, swept: &mut Swept, definition: &str) {
        let proposal = IssueWhat::Propose(NewCredentialProposal {
            preview: Some(offer(definition).preview),
            filters: offer(definition).filters,
            comment: None,
        });
        let begin = on(&self.ids[1]);
        let issuing = self.holder.agents.issuing();
        let begun = issuing.begin(&self.holder.tenant, &begin, proposal).await;
        let begun = begun.unwrap();
        let (thread, of_ours) = (text(&begun, "thread_id"), text(&begun, "cred_ex_id"));
        self.clinic.takes().await;
        let theirs = self.clinic.agents.issuing();
        let (filter, paging) = (ExchangeFilter::default(), Paging::default());
        let theirs = theirs.list(&self.clinic.tenant, &filter, &paging);
        let of_theirs = text(&theirs.await.unwrap().items[0], "cred_ex_id");
        self.meet(swept, &thread).await;
        let credential_id = None;
        for (is_clinic, what) in [
            (true, IssueWhat::Offer(None)),
            (false, IssueWhat::Request),
            (true, IssueWhat::Issue { comment: None }),
            (false, IssueWhat::Store { credential_id }),
        ] {
            let (actor, id) = match is_clinic {
                true => (&self.clinic, &of_theirs),
                false => (&self.holder, &of_ours),
            };
            let acted = actor.agents.issuing();
            acted.act(&actor.tenant, id, what).await.unwrap();
            let other = match is_clinic {
                true => &mut self.holder,
                false => &mut self.clinic,
            };
            other.takes().await;
            self.meet(swept, &thread).await;
        }
    }

    /// A proof is requested, made and verified.
    async fn prove(&mut self, swept: &mut Swept, definition: &str) {
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
        let begin = on(&self.ids[0]);
        let proving = self.clinic.agents.proving();
        let begun = proving.begin(&self.clinic.tenant, &begin, what).await;
        let begun = begun.unwrap();
        let (thread, of_theirs) = (text(&begun, "thread_id"), text(&begun, "pres_ex_id"));
        self.holder.takes().await;
        let ours = self.holder.agents.proving();
        let (filter, paging) = (ExchangeFilter::default(), Paging::default());
        let ours = ours.list(&self.holder.tenant, &filter, &paging);
        let of_ours = text(&ours.await.unwrap().items[0], "pres_ex_id");
        self.meet(swept, &thread).await;

        let what = ProofWhat::Present(NewPresentation::default());
        let acted = self.holder.agents.proving();
        let acted = acted.act(&self.holder.tenant, &of_ours, what);
        acted.await.unwrap();
        self.clinic.takes().await;
        self.meet(swept, &thread).await;

        let acted = self.clinic.agents.proving();
        let acted = acted.act(&self.clinic.tenant, &of_theirs, ProofWhat::Verify);
        assert_eq!(acted.await.unwrap()["verified"], "true");
        self.holder.takes().await;
        self.meet(swept, &thread).await;
    }
}

fn on(connection_id: &str) -> ExchangeBegin {
    ExchangeBegin {
        connection_id: Some(connection_id.to_owned()),
        major: 2,
        wishes: Wishes {
            auto_remove: Some(false),
            ..Wishes::default()
        },
    }
}

#[tokio::test]
async fn no_message_is_out_of_place_for_a_connection_of_rfc_0160() {
    let mut swept = Swept::default();
    connect("connections/1.0", &mut swept).await;
    for state in ["invitation/1", "request/1", "response/1", "active/1"] {
        let state = format!("aries_connection {state}");
        assert!(swept.states.contains(&state), "{state}: {:?}", swept.states);
    }
    assert!(swept.taken > 0 && swept.refused > swept.taken);
}

#[tokio::test]
async fn no_message_is_out_of_place_for_an_exchange() {
    let mut swept = Swept::default();
    let mut connected = connect("didexchange/1.1", &mut swept).await;
    let definition = connected.clinic.defines(None).await;
    connected.issue(&mut swept, &definition).await;
    connected.prove(&mut swept, &definition).await;
    for state in [
        "aries_issuing proposal-sent/1",
        "aries_issuing proposal-received/1",
        "aries_issuing offer-sent/1",
        "aries_issuing offer-received/1",
        "aries_issuing request-sent/1",
        "aries_issuing request-received/1",
        "aries_issuing credential-issued/1",
        "aries_issuing credential-received/1",
        "aries_issuing done/1",
        "aries_proving request-sent/1",
        "aries_proving request-received/1",
        "aries_proving presentation-sent/1",
        "aries_proving presentation-received/1",
        "aries_proving done/1",
    ] {
        assert!(swept.states.contains(state), "{state}: {:?}", swept.states);
    }
    assert!(swept.taken > 0 && swept.refused > swept.taken);
}
