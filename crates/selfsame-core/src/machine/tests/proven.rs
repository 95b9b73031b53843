//! Calls with proofs of possession.

use selfsame_crypto::{KeyType, SecretString};
use selfsame_oauth::dpop::{DpopRequest, ProvenKey, check};
use selfsame_oauth::jwt::Jwt;

use super::*;

const WANTED: &str =
    "401 Unauthorized\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: n1";

/// A host that answers with these statuses and headers, and the requests that it gets.
struct Strict {
    url: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Strict {
    async fn saying(heads: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/door?a=b", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (hearing, heads) = (requests.clone(), heads.to_vec());
        tokio::spawn(async move {
            for head in heads {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !String::from_utf8_lossy(&request).contains("word=") {
                    stream.read_buf(&mut request).await.unwrap();
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                hearing.lock().unwrap().push(request);
                let answer =
                    format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self {
            url: url.parse().unwrap(),
            requests,
        }
    }

    fn header(&self, number: usize, name: &str) -> String {
        let requests = self.requests.lock().unwrap();
        let mut lines = requests[number].lines();
        let value = lines.find_map(|line| {
            let (named, value) = line.split_once(": ")?;
            named.eq_ignore_ascii_case(name).then(|| value.to_owned())
        });
        value.unwrap_or_default()
    }

    fn proven(&self, number: usize, world: &World) -> ProvenKey {
        let request = DpopRequest {
            method: "POST",
            url: &self.url,
            access_token: Some("token"),
            now: world.shared.clock.now(),
            age: 60,
        };
        check(&self.header(number, "dpop"), &request, None).unwrap()
    }

    fn nonce(&self, number: usize) -> Option<String> {
        let proof = Jwt::parse(&self.header(number, "dpop")).unwrap();
        proof.text("nonce").map(str::to_owned)
    }
}

/// A world with a call of this host.
async fn calling(host: &Strict, nonce: Option<&str>) -> (World, HttpCall) {
    let door = Host {
        door: host.url.clone(),
        heard: Arc::default(),
    };
    let world = World::of(&door).await;
    let (store, keys) = (&world.shared.store, &world.shared.keys);
    let expires = world.shared.clock.now().plus(60);
    let made = keys.create_until(&tenant(), KeyType::P256, expires);
    let (key, batch) = made.unwrap();
    store.commit(batch).await.unwrap();
    let form = HttpBody::Form(vec![("word".to_owned(), "hello".to_owned())]);
    let call = HttpCall {
        bearer: Some(SecretString::from("token".to_owned())),
        proof: Some(CallProof {
            key,
            nonce: nonce.map(str::to_owned),
        }),
        ..HttpCall::post(host.url.clone(), form)
    };
    (world, call)
}

#[tokio::test]
async fn a_proof_is_made_anew_with_the_nonce_that_the_host_wants() {
    let host = Strict::saying(&[WANTED, "200 OK\r\nDPoP-Nonce: n2"]).await;
    let (world, call) = calling(&host, Some("old")).await;
    let answer = world.shared.sent(&tenant(), &call).await.unwrap().unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.dpop_nonce.as_deref(), Some("n2"));
    assert_eq!(host.header(0, "authorization"), "DPoP token");
    assert_eq!(host.nonce(0).as_deref(), Some("old"));
    assert_eq!(host.nonce(1).as_deref(), Some("n1"));
    let (first, second) = (host.proven(0, &world), host.proven(1, &world));
    assert_eq!(first.thumbprint, second.thumbprint);
    assert_ne!(first.spent.id, second.spent.id);
}

#[tokio::test]
async fn a_host_that_refuses_its_own_nonce_is_not_asked_a_third_time() {
    let host = Strict::saying(&[WANTED, WANTED, WANTED]).await;
    let (world, call) = calling(&host, None).await;
    let answer = world.shared.sent(&tenant(), &call).await.unwrap().unwrap();
    assert_eq!(answer.status, 401);
    assert_eq!(host.requests.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn another_refusal_is_no_reason_to_send_a_request_again() {
    let host = Strict::saying(&["400 Bad Request\r\nDPoP-Nonce: n1", "200 OK"]).await;
    let (world, call) = calling(&host, None).await;
    let answer = world.shared.sent(&tenant(), &call).await.unwrap().unwrap();
    assert_eq!(answer.status, 400);
    assert_eq!(host.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_call_without_its_key_is_not_sent() {
    let host = Strict::saying(&["200 OK"]).await;
    let (world, mut call) = calling(&host, None).await;
    let other = selfsame_crypto::PrivateKey::generate(KeyType::P256).unwrap();
    if let Some(proof) = &mut call.proof {
        proof.key = selfsame_crypto::KeyHandle::of(other.public());
    }
    assert!(world.shared.sent(&tenant(), &call).await.is_err());
    assert!(host.requests.lock().unwrap().is_empty());
}
