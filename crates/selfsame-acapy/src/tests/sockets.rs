//! Peers on WebSockets: each frame is an envelope, and what waits for them comes without being asked for.

use std::time::Duration;

use http::StatusCode;
use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_store::TenantId;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use url::Url;

use super::connecting::connected;
use super::phone::{Phone, socket};
use super::returning::{invited, writes};
use super::study::{offered, published};
use super::world::World;
use crate::inbound;
use crate::socket::SocketLimits;

/// Another listener for the peers of this instance, with these limits.
async fn listening(world: &World, limits: SocketLimits) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let peers = inbound::limited(world.app.clone(), limits);
    tokio::spawn(async move { axum::serve(listener, peers).await });
    url.parse().unwrap()
}

/// The attached bytes of a message.
fn attached(message: &Value, member: &str) -> Vec<u8> {
    let data = message[format!("{member}~attach")][0]["data"]["base64"].clone();
    base64_decode(data.as_str().unwrap()).unwrap()
}

impl Phone {
    /// Requests the credential that it is offered, and stores what it gets among the credentials of this tenant.
    async fn takes_the_offer(&mut self, world: &World, tenant: &TenantId) {
        let anoncreds = world.app.agents().anoncreds();
        let offer = self.hears().await;
        assert_eq!(
            offer["@type"],
            "https://didcomm.org/issue-credential/2.0/offer-credential"
        );
        let bytes = attached(&offer, "offers");
        let requested = anoncreds.request(tenant, &bytes, None).await.unwrap();
        let thread = json!({ "thid": offer["@id"] });
        let data = json!({ "base64": base64_encode(&requested.request) });
        let request = self.message(
            "issue-credential/2.0/request-credential",
            json!({
                "~thread": thread,
                "formats": [{ "attach_id": "r", "format": "hlindy/cred-req@v2.0" }],
                "requests~attach": [{ "@id": "r", "mime-type": "application/json", "data": data }],
            }),
        );
        self.says(&request).await;
        let issued = self.hears().await;
        assert_eq!(
            issued["@type"],
            "https://didcomm.org/issue-credential/2.0/issue-credential"
        );
        let bytes = attached(&issued, "credentials");
        let stored = anoncreds.accept(tenant, &bytes, &requested.metadata, None);
        stored.await.unwrap();
        let ack = self.message(
            "issue-credential/2.0/ack",
            json!({ "~thread": thread, "status": "OK" }),
        );
        self.says(&ack).await;
    }
}

#[tokio::test]
async fn a_wallet_on_a_socket_connects_and_is_offered_a_credential_and_gets_it() {
    let world = World::with(&["clinic", "holder"], |settings| {
        settings.terms.settings.preserve_exchange_records = true;
    })
    .await;
    let clinic = &world.agents[0];
    let published = published(clinic, false).await;
    let (invitation, id) = invited(clinic).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invitation).await;
    let mut body = offered(&id, &published);
    body["auto_remove"] = json!(false);
    let body = body.to_string();
    let sent = clinic.post("/issue-credential-2.0/send", &body).await;
    let tenant = world.app.agent_of("holder").unwrap();
    phone.takes_the_offer(&world, &tenant).await;
    let path = format!(
        "/issue-credential-2.0/records/{}",
        sent["cred_ex_id"].as_str().unwrap()
    );
    clinic
        .until(&path, |one| one["cred_ex_record"]["state"] == "done")
        .await;
}

#[tokio::test]
async fn agents_whose_endpoints_are_sockets_connect_and_talk() {
    let world = World::with(&["clinic", "holder"], |settings| {
        settings.terms.endpoint.set_scheme("ws").unwrap();
    })
    .await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, _] = connected(clinic, holder).await;
    let path = format!("/connections/{ours}/endpoints");
    let theirs = clinic.get(&path).await["their_endpoint"].clone();
    assert!(theirs.as_str().unwrap().starts_with("ws://"), "{theirs}");
}

#[tokio::test]
async fn what_came_while_a_wallet_was_away_comes_when_it_is_back() {
    let world = World::of(&["clinic"]).await;
    let (invitation, id) = invited(&world.agents[0]).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invitation).await;
    phone.hangs_up().await;
    writes(&world.agents[0], &id, "one").await;
    phone.dials().await;
    assert!(phone.hears_nothing().await, "it has not said who it is");
    let ping = phone.message(
        "trust_ping/1.0/ping",
        json!({ "response_requested": false }),
    );
    phone.says(&ping).await;
    assert_eq!(phone.hears().await["content"], "one");
    writes(&world.agents[0], &id, "two").await;
    assert_eq!(phone.hears().await["content"], "two");
}

#[tokio::test]
async fn what_a_wallet_was_sent_and_did_not_read_comes_again() {
    let world = World::of(&["clinic"]).await;
    let (invitation, id) = invited(&world.agents[0]).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects(&invitation).await;
    assert!(phone.hears_nothing().await);
    writes(&world.agents[0], &id, "one").await;
    // It is on its way, and the wallet goes without reading it.
    tokio::time::sleep(Duration::from_millis(500)).await;
    phone.breaks_off().await;
    phone.dials().await;
    let ping = phone.message(
        "trust_ping/1.0/ping",
        json!({ "response_requested": false }),
    );
    phone.says(&ping).await;
    assert_eq!(phone.hears().await["content"], "one");
    assert!(phone.hears_nothing().await);
}

#[tokio::test]
async fn an_envelope_beyond_the_limit_ends_the_socket() {
    let world = World::of(&["clinic"]).await;
    let limits = SocketLimits {
        envelope: 10_000,
        ..SocketLimits::default()
    };
    let mut phone = Phone::new(&listening(&world, limits).await);
    phone.connects(&invited(&world.agents[0]).await.0).await;
    phone.sends(vec![b'x'; 10_001]).await;
    assert_eq!(phone.envelope().await, None);
}

#[tokio::test]
async fn a_socket_that_brings_nothing_of_use_is_closed() {
    let world = World::of(&["clinic"]).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.dials().await;
    for _ in 0..17 {
        phone.sends(b"{}".to_vec()).await;
    }
    assert_eq!(phone.envelope().await, None);
}

#[tokio::test]
async fn a_silent_socket_is_closed_and_sockets_are_counted() {
    let world = World::of(&["clinic"]).await;
    let limits = SocketLimits {
        open: 1,
        ping: Duration::from_millis(50),
        // Long enough for another call meanwhile, on a busy machine.
        silent: Duration::from_secs(3),
        ..SocketLimits::default()
    };
    let url = listening(&world, limits).await;
    let mut phone = Phone::new(&url);
    phone.dials().await;
    let refused = socket(&url).await.err();
    assert_eq!(refused, Some(StatusCode::TOO_MANY_REQUESTS.as_u16()));
    assert_eq!(
        phone.envelope().await,
        None,
        "it sends nothing, though it answers pings"
    );
    for _ in 0..3_000 {
        if socket(&url).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place is free again");
}

#[tokio::test]
async fn a_wallet_that_does_not_read_is_cut_off_and_what_it_did_not_read_waits() {
    let world = World::with(&["clinic"], |settings| {
        settings.terms.mediation.each_bytes = 64 << 20;
    })
    .await;
    let limits = SocketLimits {
        sending: Duration::from_millis(300),
        ..SocketLimits::default()
    };
    let (invitation, id) = invited(&world.agents[0]).await;
    let mut phone = Phone::new(&listening(&world, limits).await);
    phone.connects(&invitation).await;
    assert!(phone.hears_nothing().await);
    // More than both sides' sockets hold.
    let long = "x".repeat(500_000);
    let many = 24;
    for _ in 0..many {
        assert_eq!(writes(&world.agents[0], &id, &long).await, StatusCode::OK);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut read = 0;
    while phone.envelope().await.is_some() {
        read += 1;
    }
    assert!(read < many, "it was cut off");
    phone.dials().await;
    let ping = phone.message(
        "trust_ping/1.0/ping",
        json!({ "response_requested": false }),
    );
    phone.says(&ping).await;
    let rest = phone.hears().await;
    assert_eq!(rest["content"].as_str().unwrap().len(), long.len());
}
