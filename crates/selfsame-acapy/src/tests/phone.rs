//! A wallet on a phone, as far as its agent sees it: it has a key and no address, and it writes its messages by hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use selfsame_aries::connections::FieldSignature;
use selfsame_aries::key::VerKey;
use selfsame_aries::peer_document::PeerDocument;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_didcomm::v1;
use selfsame_driver::clock::Clock;
use selfsame_mediation::own_did::own_party;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};
use url::Url;

const PATIENCE: Duration = Duration::from_secs(60);
/// What a document says of an agent that has no address.
const NOWHERE: &str = "didcomm:transport/queue";

/// A wallet with one key, for one connection.
pub struct Phone {
    key: Arc<PrivateKey>,
    pub verkey: VerKey,
    ring: BTreeMap<String, AgreementPrivate>,
    clock: Clock,
    /// The keys of the agent in the connection.
    peer: Vec<PublicKey>,
    /// Where the agent is.
    url: Url,
    socket: Option<WebSocketStream<TcpStream>>,
    sent: u64,
}

/// An answer to a POST.
pub struct PostAnswer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Phone {
    /// A wallet that knows an agent by this URL.
    pub fn new(url: &Url) -> Self {
        let key = Arc::new(PrivateKey::generate(KeyType::Ed25519).unwrap());
        let verkey = VerKey::new(key.public().clone()).unwrap();
        let held = AgreementPrivate::of_ed25519(&key).unwrap();
        Self {
            ring: BTreeMap::from([(verkey.to_base58(), held)]),
            key,
            verkey,
            clock: Clock::default(),
            peer: Vec::new(),
            url: url.clone(),
            socket: None,
            sent: 0,
        }
    }

    /// A message of this type. Its answers go back on the connection that it is sent on.
    pub fn message(&mut self, kind: &str, members: Value) -> Value {
        self.sent += 1;
        let mut message = json!({
            "@type": format!("https://didcomm.org/{kind}"),
            "@id": format!("{}-{}", &self.verkey.to_base58()[..8], self.sent),
            "~transport": { "return_route": "all" },
        });
        let all = message.as_object_mut().unwrap();
        all.extend(members.as_object().unwrap().clone());
        message
    }

    /// The envelope of a message to the agent.
    pub fn sealed(&self, message: &Value) -> Vec<u8> {
        let plaintext = serde_json::to_vec(message).unwrap();
        let ctx = self.clock.ctx();
        v1::pack(&plaintext, &self.peer, Some(&self.key), &ctx).unwrap()
    }

    /// The message in an envelope for this wallet.
    pub fn opened(&self, envelope: &[u8]) -> Value {
        let envelope = v1::Envelope::read(envelope).unwrap();
        let opened = v1::unpack(&envelope, &self.ring).unwrap();
        serde_json::from_slice(opened.plaintext.expose()).unwrap()
    }

    /// The request that answers an invitation.
    pub fn request(&mut self, invitation: &Value) -> Value {
        let keys = invitation["recipientKeys"].as_array().unwrap().iter();
        let keys = keys.map(|key| VerKey::parse(key.as_str().unwrap()).unwrap());
        self.peer = keys.map(|key| key.public_key().clone()).collect();
        let nowhere: Url = NOWHERE.parse().unwrap();
        let party = own_party(&self.verkey, &[&nowhere]);
        let parent = json!({ "pthid": invitation["@id"] });
        self.message(
            "connections/1.0/request",
            json!({ "label": "Phone", "connection": party, "~thread": parent }),
        )
    }

    /// Takes the response to its request: from now on it writes to the key that the agent has in the connection.
    pub fn accepts(&mut self, response: &Value) {
        assert_eq!(
            response["@type"],
            "https://didcomm.org/connections/1.0/response"
        );
        let signed = response["connection~sig"].clone();
        let signed: FieldSignature = serde_json::from_value(signed).unwrap();
        let inviter = VerKey::new(self.peer[0].clone()).unwrap();
        let party = signed.signed_by(&inviter).unwrap().unwrap();
        let document = PeerDocument::told(&party).unwrap();
        let keys = document.service().unwrap().recipient_keys.iter();
        self.peer = keys.map(|key| key.public_key().clone()).collect();
    }

    /// A ping, which older wallets send to get what waits.
    pub fn ping(&mut self) -> Value {
        self.message("trust_ping/1.0/ping", json!({ "response_requested": true }))
    }

    /// Posts an envelope.
    pub async fn post(&self, envelope: &[u8]) -> PostAnswer {
        let mut stream = dial(&self.url).await;
        let host = host(&self.url);
        let head = format!(
            "POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/ssi-agent-wire\r\nContent-Length: {}\r\n\r\n",
            envelope.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(envelope).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        PostAnswer {
            status,
            head: head.to_lowercase(),
            body: body.as_bytes().to_vec(),
        }
    }

    /// Posts a message. The message in the answer, if there is one.
    pub async fn asks(&self, message: &Value) -> Option<Value> {
        let answer = self.post(&self.sealed(message)).await;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status < 300, "{}: {text}", answer.status);
        (!answer.body.is_empty()).then(|| self.opened(&answer.body))
    }

    /// Connects to the agent by POST.
    pub async fn connects_by_post(&mut self, invitation: &Value) {
        let request = self.request(invitation);
        let response = self.asks(&request).await.unwrap();
        self.accepts(&response);
    }

    /// Opens a socket.
    pub async fn dials(&mut self) {
        self.socket = Some(socket(&self.url).await.unwrap());
    }

    /// Reads what comes, and closes its socket.
    pub async fn hangs_up(&mut self) {
        assert!(self.hears_nothing().await);
        self.breaks_off().await;
    }

    /// Closes its socket without reading.
    pub async fn breaks_off(&mut self) {
        if let Some(mut socket) = self.socket.take() {
            let _ = socket.close(None).await;
        }
    }

    /// Sends a message on its socket.
    pub async fn says(&mut self, message: &Value) {
        let envelope = self.sealed(message);
        self.sends(envelope).await;
    }

    /// Sends a frame.
    pub async fn sends(&mut self, frame: Vec<u8>) {
        let socket = self.socket.as_mut().unwrap();
        socket.send(Message::Binary(frame.into())).await.unwrap();
    }

    /// The next envelope on its socket; `None` once the agent has closed it.
    pub async fn envelope(&mut self) -> Option<Vec<u8>> {
        let socket = self.socket.as_mut().unwrap();
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            let frame = tokio::time::timeout_at(until, socket.next()).await.unwrap();
            match frame {
                Some(Ok(Message::Binary(bytes))) => return Some(bytes.to_vec()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(_) | Err(_)) | None => return None,
            }
        }
    }

    /// The next message on its socket.
    pub async fn hears(&mut self) -> Value {
        let envelope = self.envelope().await.unwrap();
        self.opened(&envelope)
    }

    /// Whether nothing comes on its socket for a while.
    pub async fn hears_nothing(&mut self) -> bool {
        let next = tokio::time::timeout(Duration::from_millis(500), self.envelope());
        next.await.is_err()
    }

    /// Connects to the agent on a socket, and tells it that it has the connection.
    pub async fn connects(&mut self, invitation: &Value) {
        self.dials().await;
        let request = self.request(invitation);
        self.says(&request).await;
        let response = self.hears().await;
        self.accepts(&response);
        let ping = self.ping();
        self.says(&ping).await;
        let answer = self.hears().await;
        assert_eq!(
            answer["@type"],
            "https://didcomm.org/trust_ping/1.0/ping_response"
        );
    }
}

async fn dial(url: &Url) -> TcpStream {
    selfsame_net::dial(&host(url), PATIENCE).await.unwrap()
}

fn host(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap(), url.port().unwrap())
}

/// A socket at the agent's address; the status of its refusal otherwise.
pub async fn socket(url: &Url) -> Result<WebSocketStream<TcpStream>, u16> {
    let address = format!("ws://{}/", host(url));
    match client_async(address, dial(url).await).await {
        Ok((socket, _)) => Ok(socket),
        Err(tokio_tungstenite::tungstenite::Error::Http(refusal)) => Err(refusal.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}
