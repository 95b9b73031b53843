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
        let empty: Vec<_> = heads.iter().map(|head| (*head, "")).collect();
        Self::answering(&empty).await
    }

    /// As [`Self::saying`], with bodies.
    async fn answering(answers: &[(&'static str, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/door?a=b", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (hearing, answers) = (requests.clone(), answers.to_vec());
        tokio::spawn(async move {
            for (head, body) in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !is_whole(&String::from_utf8_lossy(&request)) {
                    stream.read_buf(&mut request).await.unwrap();
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                hearing.lock().unwrap().push(request);
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
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

/// Whether a request has its form, or is one for a challenge, which has none.
fn is_whole(request: &str) -> bool {
    let is_for_challenge = request.starts_with("POST /challenge");
    request.contains("word=") || is_for_challenge && request.contains("\r\n\r\n")
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

/// A call whose sender is attested, to a host that gives challenges at an endpoint or with a refusal.
async fn attested(host: &Strict, has_endpoint: bool) -> (World, HttpCall) {
    let (world, call) = calling(host, None).await;
    let challenge_endpoint = has_endpoint.then(|| host.url.join("/challenge").unwrap());
    let proof = call.proof.clone().unwrap();
    let attested = CallAttestation {
        attestation: "an attestation".to_owned(),
        key: proof.key,
        client_id: "wallet".to_owned(),
        server: "https://as.example".to_owned(),
        challenge_endpoint,
    };
    let call = HttpCall {
        bearer: None,
        proof: None,
        attested: Some(Box::new(attested)),
        ..call
    };
    (world, call)
}

const CHALLENGED: &str = "400 Bad Request\r\nOAuth-Client-Attestation-Challenge: c1";
const POP: &str = "oauth-client-attestation-pop";

#[tokio::test]
async fn an_attested_call_proves_its_key_anew_with_the_challenge_of_a_refusal() {
    let body = r#"{"error":"use_attestation_challenge"}"#;
    let host = Strict::answering(&[(CHALLENGED, body), ("200 OK", "")]).await;
    let (world, call) = attested(&host, false).await;
    let answer = world.shared.sent(&tenant(), &call).await.unwrap().unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(host.header(1, "oauth-client-attestation"), "an attestation");
    let pops = [0, 1].map(|number| Jwt::parse(&host.header(number, POP)).unwrap());
    assert_eq!(pops[0].text("challenge"), None);
    assert_eq!(pops[1].text("challenge"), Some("c1"));
    assert_ne!(pops[0].text("jti"), pops[1].text("jti"));
    for pop in &pops {
        assert_eq!(pop.text("iss"), Some("wallet"));
        assert_eq!(pop.text("aud"), Some("https://as.example"));
    }
}

#[tokio::test]
async fn a_server_that_refuses_its_own_challenge_is_not_asked_a_third_time() {
    let body = r#"{"error":"use_attestation_challenge"}"#;
    let host = Strict::answering(&[(CHALLENGED, body); 3]).await;
    let (world, call) = attested(&host, false).await;
    let answer = world.shared.sent(&tenant(), &call).await.unwrap().unwrap();
    assert_eq!(answer.status, 400);
    assert_eq!(host.requests.lock().unwrap().len(), 2);
}

const GIVEN: &str = r#"{"attestation_challenge":"c0"}"#;

#[tokio::test]
async fn a_challenge_is_fetched_where_the_server_names_an_endpoint() {
    let host = Strict::answering(&[("200 OK", GIVEN), ("200 OK", "")]).await;
    let (world, call) = attested(&host, true).await;
    let answer = world.shared.sent(&tenant(), &call).await.unwrap().unwrap();
    assert_eq!(answer.status, 200);
    let pop = Jwt::parse(&host.header(1, POP)).unwrap();
    assert_eq!(pop.text("challenge"), Some("c0"));
}

#[tokio::test]
async fn an_attested_call_is_not_sent_without_the_challenge_that_it_needs() {
    for answer in [("500 Internal Server Error", GIVEN), ("200 OK", "{}")] {
        let host = Strict::answering(&[answer, ("200 OK", "")]).await;
        let (world, call) = attested(&host, true).await;
        assert!(world.shared.sent(&tenant(), &call).await.unwrap().is_err());
        assert_eq!(host.requests.lock().unwrap().len(), 1);
    }
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
