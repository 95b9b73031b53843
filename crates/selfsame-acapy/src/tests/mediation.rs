//! An agent mediates for a wallet: others reach the wallet through it, whether it is connected or not.

use http::{Method, StatusCode};
use selfsame_aries::key::VerKey;
use selfsame_crypto::encoding::base64_decode;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_didcomm::v1;
use selfsame_driver::clock::Clock;
use serde_json::{Value, json};

use super::hearing::Controller;
use super::phone::Phone;
use super::returning::invited;
use super::world::{Agent, World};

const PICKUP: &str = "messagepickup/2.0";
const MEDIATION: &str = "coordinate-mediation/1.0";

/// A mediator that grants mediation to everybody, and an agent that writes to wallets behind it.
async fn open_world(controllers: &[&str]) -> World {
    World::heard(&["mediator", "clinic"], controllers, |settings| {
        settings.terms.mediation.is_open = settings.organisation == "mediator";
    })
    .await
}

impl Phone {
    /// Asks on its socket, and gives the answer.
    async fn hears_of(&mut self, kind: &str, members: Value) -> Value {
        let message = self.message(kind, members);
        self.says(&message).await;
        self.hears().await
    }

    /// Is granted mediation, and gives the key that messages to it are wrapped for.
    async fn is_mediated(&mut self) -> VerKey {
        let grant = self
            .hears_of(&format!("{MEDIATION}/mediate-request"), json!({}))
            .await;
        assert_eq!(
            grant["@type"],
            format!("https://didcomm.org/{MEDIATION}/mediate-grant")
        );
        let key = grant["routing_keys"][0].as_str().unwrap();
        VerKey::parse(key).unwrap()
    }

    /// Changes its keylist by one key, and gives the result.
    async fn changes(&mut self, key: &VerKey, action: &str) -> Value {
        let updates = json!([{ "recipient_key": key.to_base58(), "action": action }]);
        let kind = format!("{MEDIATION}/keylist-update");
        let updated = self.hears_of(&kind, json!({ "updates": updates })).await;
        updated["updated"][0]["result"].clone()
    }

    /// How many messages wait.
    async fn counts(&mut self) -> u64 {
        let status = self
            .hears_of(&format!("{PICKUP}/status-request"), json!({}))
            .await;
        assert_eq!(
            status["@type"],
            format!("https://didcomm.org/{PICKUP}/status")
        );
        status["message_count"].as_u64().unwrap()
    }

    /// An invitation that leads through the mediator, to a key of its own.
    fn invitation(&self, world: &World, routing: &VerKey) -> Value {
        json!({
            "@type": "https://didcomm.org/connections/1.0/invitation",
            "@id": "of-the-phone",
            "label": "Phone",
            "recipientKeys": [self.verkey.to_base58()],
            "routingKeys": [routing.to_base58()],
            "serviceEndpoint": world.endpoint,
        })
    }
}

/// Lets an agent answer an invitation.
async fn answers(agent: &Agent, invitation: &Value) {
    let path = "/connections/receive-invitation?auto_accept=true";
    agent.post(path, &invitation.to_string()).await;
}

/// The identifier and the message of the only envelope of a delivery.
fn delivered(phone: &Phone, delivery: &Value) -> (String, Value) {
    assert_eq!(
        delivery["@type"],
        format!("https://didcomm.org/{PICKUP}/delivery")
    );
    let all = delivery["~attach"].as_array().unwrap();
    assert_eq!(all.len(), 1);
    let envelope = base64_decode(all[0]["data"]["base64"].as_str().unwrap()).unwrap();
    (
        all[0]["@id"].as_str().unwrap().to_owned(),
        phone.opened(&envelope),
    )
}

/// A forward of this envelope to a key, for this routing key.
fn forward(routing: &VerKey, to: &VerKey, envelope: &Value) -> Vec<u8> {
    let message = json!({
        "@type": "https://didcomm.org/routing/1.0/forward",
        "@id": "f", "to": to.to_base58(), "msg": envelope,
    });
    let plaintext = serde_json::to_vec(&message).unwrap();
    let routing = std::slice::from_ref(routing.public_key());
    v1::pack(&plaintext, routing, None, &Clock::default().ctx()).unwrap()
}

/// An anonymous envelope for this key.
fn letter(to: &PublicKey) -> Value {
    let plaintext = br#"{"@type":"https://didcomm.org/x/1.0/y","@id":"1"}"#;
    let sealed = v1::pack(
        plaintext,
        std::slice::from_ref(to),
        None,
        &Clock::default().ctx(),
    );
    serde_json::from_slice(&sealed.unwrap()).unwrap()
}

fn stranger() -> VerKey {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    VerKey::new(key.public().clone()).unwrap()
}

#[tokio::test]
async fn a_wallet_is_written_to_while_it_is_away_and_picks_it_up() {
    let controller = Controller::start().await;
    let world = open_world(&[&controller.url]).await;
    let [mediator, clinic] = &world.agents[..] else {
        panic!("two agents");
    };
    let (invitation, connection) = invited(mediator).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invitation).await;
    let routing = phone.is_mediated().await;
    let own = phone.verkey.clone();
    assert_eq!(phone.changes(&own, "add").await, "success");
    assert_eq!(phone.changes(&own, "add").await, "no_change");
    let path = format!("/mediation/keylists?conn_id={connection}");
    let keys = mediator.get(&path).await;
    assert_eq!(keys["results"][0]["recipient_key"], own.to_base58());
    phone.hangs_up().await;
    answers(clinic, &phone.invitation(&world, &routing)).await;
    let told = controller.of("forward", 1).await;
    assert_eq!(told[0].record["status"], "waiting_for_pickup");
    assert_eq!(
        controller.of("mediation", 2).await[1].record["state"],
        "granted"
    );
    assert_eq!(
        controller.of("keylist", 2).await[1].record["updated"][0]["result"],
        "no_change"
    );
    phone.dials().await;
    assert_eq!(phone.counts().await, 1);
    let kind = format!("{PICKUP}/delivery-request");
    for _ in 0..2 {
        let delivery = phone.hears_of(&kind, json!({ "limit": 10 })).await;
        let (_, request) = delivered(&phone, &delivery);
        assert_eq!(
            request["@type"],
            "https://didcomm.org/connections/1.0/request"
        );
    }
    let delivery = phone.hears_of(&kind, json!({ "limit": 10 })).await;
    let (id, _) = delivered(&phone, &delivery);
    let kind = format!("{PICKUP}/messages-received");
    let status = phone
        .hears_of(&kind, json!({ "message_id_list": [id, "other"] }))
        .await;
    assert_eq!(status["message_count"], 0);
}

#[tokio::test]
async fn a_wallet_that_is_connected_gets_at_once_what_others_send_it() {
    let world = open_world(&[]).await;
    let [mediator, clinic] = &world.agents[..] else {
        panic!("two agents");
    };
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invited(mediator).await.0).await;
    let routing = phone.is_mediated().await;
    let own = phone.verkey.clone();
    phone.changes(&own, "add").await;
    let kind = format!("{PICKUP}/live-delivery-change");
    let live = phone
        .hears_of(&kind, json!({ "live_delivery": true }))
        .await;
    assert_eq!(live["live_delivery"], true);
    answers(clinic, &phone.invitation(&world, &routing)).await;
    let delivery = phone.hears().await;
    let (id, request) = delivered(&phone, &delivery);
    assert_eq!(
        request["@type"],
        "https://didcomm.org/connections/1.0/request"
    );
    assert_eq!(phone.counts().await, 1, "it waits until it is confirmed");
    let kind = format!("{PICKUP}/messages-received");
    let status = phone
        .hears_of(&kind, json!({ "message_id_list": [id] }))
        .await;
    assert_eq!(
        (&status["message_count"], &status["live_delivery"]),
        (&json!(0), &json!(true))
    );
    // Without a socket there is no live delivery.
    let change = phone.message(
        "messagepickup/2.0/live-delivery-change",
        json!({ "live_delivery": true }),
    );
    let refused = phone.asks(&change).await.unwrap();
    assert_eq!(
        refused["description"]["code"],
        "e.m.live-mode-not-supported"
    );
}

#[tokio::test]
async fn an_older_wallet_gets_what_waits_by_a_ping() {
    let world = open_world(&[]).await;
    let [mediator, clinic] = &world.agents[..] else {
        panic!("two agents");
    };
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invited(mediator).await.0).await;
    let routing = phone.is_mediated().await;
    let own = phone.verkey.clone();
    phone.changes(&own, "add").await;
    phone.hangs_up().await;
    answers(clinic, &phone.invitation(&world, &routing)).await;
    phone.dials().await;
    let ping = phone.message(
        "trust_ping/1.0/ping",
        json!({ "response_requested": false }),
    );
    phone.says(&ping).await;
    let request = phone.hears().await;
    assert_eq!(
        request["@type"],
        "https://didcomm.org/connections/1.0/request"
    );
    assert!(phone.hears_nothing().await);
    assert_eq!(phone.counts().await, 0);
}

#[tokio::test]
async fn forwards_to_unknown_keys_and_to_the_keys_of_others_lead_nowhere() {
    let world = open_world(&[]).await;
    let mediator = &world.agents[0];
    let (mut phone, mut thief) = (Phone::new(&world.endpoint), Phone::new(&world.endpoint));
    phone.connects(&invited(mediator).await.0).await;
    thief.connects(&invited(mediator).await.0).await;
    let (routing, other) = (phone.is_mediated().await, thief.is_mediated().await);
    assert_ne!(
        routing, other,
        "senders can't tell which keys share a mediator's client"
    );
    let own = phone.verkey.clone();
    assert_eq!(thief.changes(&own, "add").await, "success");
    let sealed = letter(own.public_key());
    let unknown = phone.post(&forward(&routing, &own, &sealed)).await;
    assert_eq!(
        unknown.status, 404,
        "the key is not in the list of this routing key"
    );
    assert_eq!(phone.changes(&own, "add").await, "success");
    assert_eq!(
        phone.post(&forward(&routing, &own, &sealed)).await.status,
        202
    );
    assert_eq!((phone.counts().await, thief.counts().await), (1, 0));
    assert_eq!(
        phone
            .post(&forward(&routing, &stranger(), &sealed))
            .await
            .status,
        404
    );
    assert_eq!(
        phone
            .post(&forward(&stranger(), &own, &sealed))
            .await
            .status,
        400
    );
    assert_eq!(phone.changes(&own, "remove").await, "success");
    assert_eq!(
        phone.post(&forward(&routing, &own, &sealed)).await.status,
        404
    );
}

#[tokio::test]
async fn a_forward_in_a_forward_is_one_envelope_and_goes_no_further() {
    let world = open_world(&[]).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invited(&world.agents[0]).await.0).await;
    let routing = phone.is_mediated().await;
    phone.changes(&routing, "add").await;
    let mut wrapped = letter(&stranger().public_key().clone());
    for _ in 0..4 {
        let outer = forward(&routing, &routing, &wrapped);
        wrapped = serde_json::from_slice(&outer).unwrap();
    }
    let sent = serde_json::to_vec(&wrapped).unwrap();
    // What is wrapped for a key of the agent itself is opened layer by layer, and ends.
    let taken = phone.post(&sent).await;
    assert!(
        taken.status == 202 || taken.status == 404,
        "{}",
        taken.status
    );
    assert!(phone.counts().await <= 1);
}

#[tokio::test]
async fn a_keylist_has_its_bound_and_so_has_what_is_passed_on() {
    let world = World::with(&["mediator"], |settings| {
        settings.terms.mediation.is_open = true;
        settings.terms.mediation.keys = 1;
        settings.terms.mediation.each = 2;
    })
    .await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invited(&world.agents[0]).await.0).await;
    assert!(phone.hears_nothing().await);
    let routing = phone.is_mediated().await;
    assert!(phone.hears_nothing().await);
    let own = phone.verkey.clone();
    assert_eq!(phone.changes(&own, "add").await, "success");
    assert!(phone.hears_nothing().await);
    assert_eq!(phone.changes(&stranger(), "add").await, "client_error");
    let long = vec![b'x'; 900_000];
    let keys = std::slice::from_ref(own.public_key());
    let sealed = v1::pack(&long, keys, None, &Clock::default().ctx()).unwrap();
    let sealed: Value = serde_json::from_slice(&sealed).unwrap();
    let large = phone.post(&forward(&routing, &own, &sealed)).await;
    assert_eq!(large.status, 400);
    let sealed = letter(own.public_key());
    let status = async |phone: &Phone| phone.post(&forward(&routing, &own, &sealed)).await.status;
    assert_eq!(status(&phone).await, 202);
    assert_eq!(status(&phone).await, 202);
    assert_eq!(status(&phone).await, 507, "no more waits for it");
}

#[tokio::test]
async fn controllers_decide_who_is_mediated_and_end_it() {
    let world = World::of(&["mediator"]).await;
    let mediator = &world.agents[0];
    let (invitation, connection) = invited(mediator).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invitation).await;
    let request = phone.message(&format!("{MEDIATION}/mediate-request"), json!({}));
    phone.says(&request).await;
    let path = format!("/mediation/requests?conn_id={connection}&state=request");
    let asked = mediator
        .until(&path, |found| {
            found["results"]
                .as_array()
                .is_some_and(|all| all.len() == 1)
        })
        .await;
    let id = asked["results"][0]["mediation_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let decides = async |decision: &str| {
        let path = format!("/mediation/requests/{id}/{decision}");
        mediator.send(Method::POST, &path, "").await
    };
    let granted = decides("grant").await;
    assert_eq!(granted.status, StatusCode::CREATED, "{}", granted.body);
    let grant = phone.hears().await;
    let routing = VerKey::parse(grant["routing_keys"][0].as_str().unwrap()).unwrap();
    assert_eq!(grant["endpoint"], world.endpoint.as_str());
    assert_eq!(decides("grant").await.status, StatusCode::BAD_REQUEST);
    let own = phone.verkey.clone();
    phone.changes(&own, "add").await;
    assert_eq!(decides("deny").await.status, StatusCode::CREATED);
    let denied = phone.hears().await;
    assert_eq!(
        denied["@type"],
        format!("https://didcomm.org/{MEDIATION}/mediate-deny")
    );
    let sealed = letter(own.public_key());
    assert_eq!(
        phone.post(&forward(&routing, &own, &sealed)).await.status,
        404
    );
    let path = format!("/mediation/requests/{id}");
    assert_eq!(mediator.get(&path).await["state"], "denied");
    assert_eq!(
        mediator.send(Method::DELETE, &path, "").await.status,
        StatusCode::OK
    );
    assert_eq!(
        mediator.send(Method::GET, &path, "").await.status,
        StatusCode::NOT_FOUND
    );
}
