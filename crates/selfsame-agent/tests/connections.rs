//! Two agents, each with a store and an endpoint of its own, connect over HTTP on loopback.

use std::sync::Arc;
use std::time::Duration;

use selfsame_agent::{
    AgentSettings, AgentTerms, Agents, ConnectionView, InvitationAnswer, NewInvitation,
};
use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::{Resources, Shared};
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::ErrorKind;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::paging::Paging;
use selfsame_net::{Net, Settings};
use selfsame_store::{Memory, Store, TenantId, Vault};
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// An agent with its endpoint.
struct Peer {
    agents: Agents,
    tenant: TenantId,
    /// Envelopes that were posted to it, and what became of them.
    taken: mpsc::UnboundedReceiver<Result<(), selfsame_driver::Error>>,
}

/// Reads a request, answers 200, and returns its body.
async fn posted(mut stream: TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    loop {
        assert!(stream.read_buf(&mut read).await.unwrap() > 0);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        assert!(head.contains("content-type: application/didcomm-envelope-enc"));
        let (_, length) = head.split_once("content-length: ").unwrap();
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        if body.len() >= length {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer).await.unwrap();
            return body.as_bytes().to_vec();
        }
    }
}

impl Peer {
    async fn bound(name: &str, origins: &mut Vec<url::Origin>) -> PeerToBe {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: url::Url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let (post, envelopes) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let post = post.clone();
                tokio::spawn(async move { drop(post.send(posted(stream).await)) });
            }
        });
        origins.push(url.origin());
        PeerToBe {
            name: name.to_owned(),
            url,
            envelopes,
        }
    }

    async fn connections(&self) -> Vec<ConnectionView> {
        let paging = Paging::default();
        let listed = self.agents.connections(&self.tenant, &paging);
        listed.await.unwrap().items
    }

    /// Waits for the next envelope, which is taken without an error.
    async fn takes(&mut self) {
        let taken = tokio::time::timeout(Duration::from_secs(10), self.taken.recv());
        taken.await.unwrap().unwrap().unwrap();
    }

    async fn refuses(&mut self) -> selfsame_driver::Error {
        let taken = tokio::time::timeout(Duration::from_secs(10), self.taken.recv());
        taken.await.unwrap().unwrap().unwrap_err()
    }
}

struct PeerToBe {
    name: String,
    url: url::Url,
    envelopes: mpsc::UnboundedReceiver<Vec<u8>>,
}

impl PeerToBe {
    async fn start(mut self, origins: &[url::Origin]) -> Peer {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::default()), vault)
            .await
            .unwrap();
        let settings = Settings {
            own_origins: origins.to_vec(),
            native_roots: false,
            ..Settings::default()
        };
        let config = SharedConfig {
            origin: "http://localhost:9/".parse().unwrap(),
            trust: TrustConfig::default(),
            resolver: ResolverConfig::default(),
            organisations: OrganisationsConfig::default(),
        };
        let resources = Resources {
            keys: Keys::new(store.clone()),
            store,
            net: Net::new(settings).unwrap(),
            clock: Clock::default(),
            registry: None,
        };
        let shared = Arc::new(Shared::new(config, resources).unwrap());
        let terms = AgentTerms {
            label: self.name.clone(),
            endpoint: self.url,
            settings: AgentSettings::default(),
            connection_wait: Duration::ZERO,
        };
        let agents = Agents::new(AnonCreds::new(shared), terms, Arc::new(|_| false));
        let (report, taken) = mpsc::unbounded_channel();
        let taking = agents.clone();
        tokio::spawn(async move {
            while let Some(envelope) = self.envelopes.recv().await {
                let _ = report.send(taking.receive(envelope).await);
            }
        });
        Peer {
            agents,
            tenant: TenantId::parse(&self.name.to_lowercase()).unwrap(),
            taken,
        }
    }
}

async fn two() -> (Peer, Peer) {
    let mut origins = Vec::new();
    let clinic = Peer::bound("Clinic", &mut origins).await;
    let holder = Peer::bound("Holder", &mut origins).await;
    (clinic.start(&origins).await, holder.start(&origins).await)
}

fn invitation(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test]
async fn two_agents_connect_by_an_invitation_and_ping_each_other() {
    let (mut clinic, mut holder) = two().await;
    let new = NewInvitation {
        alias: Some("Pacientes".to_owned()),
        auto_accept: true,
        ..NewInvitation::default()
    };
    let invited = clinic.agents.create_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    let taken = holder.agents.receive_invitation(
        &holder.tenant,
        invitation(&invited.invitation),
        InvitationAnswer::default(),
    );
    let taken = taken.await.unwrap();
    assert_eq!(
        (taken.state, taken.rfc23_state),
        ("invitation", "invitation-received")
    );
    assert_eq!(taken.their_label.as_deref(), Some("Clinic"));
    let id = &taken.connection_id;
    let accepted = holder
        .agents
        .accept_connection(&holder.tenant, id)
        .await
        .unwrap();
    assert_eq!(accepted.state, "request");
    clinic.takes().await; // the request
    holder.takes().await; // the response, which is confirmed by a ping
    clinic.takes().await; // that ping
    holder.takes().await; // and its answer
    let [ours] = &clinic.connections().await[..] else {
        panic!("one connection");
    };
    let theirs = holder.agents.connection(&holder.tenant, id).await.unwrap();
    assert_eq!((ours.state, theirs.state), ("active", "active"));
    assert_eq!(ours.connection_id, invited.connection_id);
    assert_eq!(ours.alias.as_deref(), Some("Pacientes"));
    assert_eq!(ours.their_label.as_deref(), Some("Holder"));
    assert_eq!(ours.their_did, theirs.my_did);
    assert_eq!(ours.my_did, theirs.their_did);
    let ping = clinic
        .agents
        .ping(&clinic.tenant, &ours.connection_id, None);
    ping.await.unwrap();
    holder.takes().await;
    clinic.takes().await;
}

#[tokio::test]
async fn many_connect_by_one_invitation_for_many() {
    let (mut clinic, mut holder) = two().await;
    let new = NewInvitation {
        auto_accept: true,
        multi_use: true,
        ..NewInvitation::default()
    };
    let invited = clinic.agents.create_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    for _ in 0..3 {
        let how = InvitationAnswer {
            auto_accept: true,
            ..InvitationAnswer::default()
        };
        let taken =
            holder
                .agents
                .receive_invitation(&holder.tenant, invitation(&invited.invitation), how);
        taken.await.unwrap();
        clinic.takes().await;
        holder.takes().await;
        clinic.takes().await;
        holder.takes().await;
    }
    let mut states: Vec<_> = clinic
        .connections()
        .await
        .iter()
        .map(|one| one.state)
        .collect();
    states.sort_unstable();
    assert_eq!(states, ["active", "active", "active", "invitation"]);
}

#[tokio::test]
async fn an_invitation_for_one_is_used_once() {
    let (mut clinic, holder) = two().await;
    let new = NewInvitation {
        auto_accept: true,
        ..NewInvitation::default()
    };
    let invited = clinic.agents.create_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    for turn in 0..2 {
        let how = InvitationAnswer {
            auto_accept: true,
            ..InvitationAnswer::default()
        };
        let taken =
            holder
                .agents
                .receive_invitation(&holder.tenant, invitation(&invited.invitation), how);
        taken.await.unwrap();
        match turn {
            0 => {
                clinic.takes().await;
                clinic.takes().await;
            }
            _ => assert_eq!(clinic.refuses().await.kind, ErrorKind::NotFound),
        }
    }
    assert_eq!(clinic.connections().await.len(), 1);
}

#[tokio::test]
async fn a_connection_that_is_not_ready_says_nothing() {
    let (clinic, _) = two().await;
    let invited = clinic
        .agents
        .create_invitation(&clinic.tenant, NewInvitation::default());
    let id = invited.await.unwrap().connection_id;
    let refused = clinic
        .agents
        .ping(&clinic.tenant, &id, None)
        .await
        .unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    let other = TenantId::parse("other").unwrap();
    let absent = clinic.agents.connection(&other, &id).await.unwrap_err();
    assert_eq!(absent.kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn what_is_no_envelope_for_a_key_held_here_is_refused() {
    let (clinic, _) = two().await;
    for envelope in [&b""[..], b"{}", b"[]", br#"{"protected":"e30"}"#] {
        let refused = clinic.agents.receive(envelope.to_vec()).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest, "{envelope:?}");
    }
}
