//! Controllers hear of records by webhooks in ACA-Py's form.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use http::{HeaderMap, Uri};
use serde_json::Value;
use tokio::net::TcpListener;

use super::connecting::connected;
use super::study::{issued, published};
use super::world::World;

/// What a controller was sent.
#[derive(Clone)]
pub struct HeardRecord {
    pub path: String,
    pub headers: HeaderMap,
    pub record: Value,
}

/// A controller that confirms everything.
pub struct Controller {
    pub url: String,
    heard: Arc<Mutex<Vec<HeardRecord>>>,
}

impl Controller {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks", listener.local_addr().unwrap());
        let heard: Arc<Mutex<Vec<HeardRecord>>> = Arc::default();
        let hearing = heard.clone();
        let hear = move |path: Uri, headers: HeaderMap, body: Bytes| {
            hearing.lock().unwrap().push(HeardRecord {
                path: path.to_string(),
                headers,
                record: serde_json::from_slice(&body).unwrap(),
            });
            async {}
        };
        let router = Router::new().fallback(hear);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, heard }
    }

    /// What it heard of a topic so far.
    pub fn all(&self, topic: &str) -> Vec<HeardRecord> {
        let heard = self.heard.lock().unwrap().clone();
        let path = format!("/hooks/topic/{topic}/");
        heard.into_iter().filter(|one| one.path == path).collect()
    }

    /// Waits until it has heard of a record in each of these states.
    pub async fn hears(&self, topic: &str, states: &[&str]) {
        let began = tokio::time::Instant::now();
        for state in states {
            while !self
                .all(topic)
                .iter()
                .any(|one| one.record["state"] == *state)
            {
                assert!(
                    began.elapsed() < Duration::from_secs(60),
                    "{topic}: {state}"
                );
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    /// What it heard of a topic, once there is this many.
    pub async fn of(&self, topic: &str, many: usize) -> Vec<HeardRecord> {
        let began = tokio::time::Instant::now();
        loop {
            let found = self.all(topic);
            if found.len() >= many {
                return found;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{topic}: {}",
                found.len()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn states(heard: &[HeardRecord], id: &str) -> Vec<String> {
    let of = heard.iter().filter(|one| one.record["connection_id"] == id);
    of.map(|one| one.record["state"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_controller_hears_each_state_of_a_connection_in_order_with_its_key() {
    let controller = Controller::start().await;
    let url = format!("{}#secret", controller.url);
    let world = World::heard(&["clinic", "holder"], &[&url], |_| {}).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, theirs] = connected(clinic, holder).await;
    let mut heard = controller.of("connections", 2).await;
    let is_active =
        |heard: &[HeardRecord], id: &str| states(heard, id).iter().any(|state| state == "active");
    while !is_active(&heard, &ours) || !is_active(&heard, &theirs) {
        heard = controller.of("connections", heard.len() + 1).await;
    }
    assert!(heard.iter().all(|one| one.headers["x-api-key"] == "secret"));
    assert!(
        heard
            .iter()
            .all(|one| !one.headers.contains_key("x-wallet-id"))
    );
    for id in [&ours, &theirs] {
        let states = states(&heard, id);
        assert_eq!(states.last().unwrap(), "active", "{states:?}");
        let mut unlike = states.clone();
        unlike.dedup();
        assert_eq!(states, unlike, "each state is told once");
    }
    let first = heard
        .iter()
        .find(|one| one.record["connection_id"] == *ours);
    assert_eq!(first.unwrap().record["alias"], "Pacientes");
}

#[tokio::test]
async fn a_controller_that_looks_for_faults_hears_the_whole_messages_of_exchanges() {
    let controller = Controller::start().await;
    let world = World::heard(&["clinic", "holder"], &[&controller.url], |settings| {
        let is_clinic = settings.organisation == "clinic";
        settings.terms.settings.debug_webhooks = is_clinic;
        settings.terms.settings.auto_respond_credential_offer = !is_clinic;
    })
    .await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let published = published(clinic, false).await;
    issued(clinic, holder, &published).await;
    let heard = controller.of("issue_credential_v2_0", 4).await;
    for one in heard {
        let has_message = one.record["cred_offer"].is_object();
        assert_eq!(
            has_message,
            one.record["role"] == "issuer",
            "{}",
            one.record
        );
        assert!(one.record["by_format"]["cred_offer"].is_object());
    }
}
