//! Machines with compact credentials: issued by an offer, shown in a handshake, and refused once they are revoked.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_app::node::Material;
use selfsame_app::tls::{Gatherer, Reuse};
use selfsame_core::view::NewDid;
use selfsame_credential::Format;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::generate::random_seed;
use selfsame_did::Did;
use selfsame_driver::paging::Paging;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer};
use selfsame_tls::evidence::HandshakeEvidence;
use selfsame_tls::identity::{
    ExpectedPeer, Identities, IdentityPolicy, Peer, PeerKind, PeerPolicy, SsiIdentity, Staples,
    TrustedIssuer, Vc,
};
use selfsame_tls::profile::SELFSAME;
use selfsame_tls::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, SigningKey,
    Suite,
};
use selfsame_tls_io::Gather as _;
use serde_json::json;

use crate::world::{Site, WalletHost, accept, new_offer, person};

/// The bytes of the credential of a machine, at most.
const CREDENTIAL_MAX: usize = 400;

/// A machine that accepted this offer.
async fn machine(site: &Site, offer: &NewOffer) -> (Arc<App>, Material) {
    let app = WalletHost::new(site).open().await;
    let node = app.node().unwrap();
    let new = NewDid {
        method: "key".to_owned(),
        kind: Some("Ed25519".to_owned()),
    };
    node.create(&new).await.unwrap();
    let offer = site.offer_of(offer.clone()).await;
    let taken = node.take(&offer.uri, None).await.unwrap();
    let credential = taken.credential.unwrap();
    assert_eq!(credential.format, "cwt");
    assert_eq!(credential.issuer, issuer(site).as_str());
    assert_eq!(
        credential.types,
        ["VerifiableCredential", "MachineIdentity"]
    );
    let material = node.material().await.unwrap();
    assert_eq!(material.did.as_str(), taken.did);
    assert_eq!(material.lists.len(), 1);
    (app, material)
}

/// The DID of the issuer of compact credentials.
fn issuer(site: &Site) -> Did {
    let issuer = site.app.main().issuer().unwrap();
    Did::parse(issuer.identity().names()[0].as_str()).unwrap()
}

fn shown(material: &Material) -> SsiIdentity {
    let secret = material.key.to_pkcs8().unwrap();
    let (format, raw) = material.credential.clone().unwrap();
    SsiIdentity {
        did: material.did.clone(),
        key: SigningKey::from_pkcs8(secret.expose()).unwrap(),
        vc: Vc::of_text(format, &raw),
        staples: Staples::default(),
    }
}

/// Trusts the issuer by its DID alone: its keys are resolved, and its list is the one that the credential names.
fn trusting(site: &Site) -> PeerPolicy {
    let mut trusted = TrustedIssuer::new(issuer(site), Vec::new());
    trusted.types = vec!["MachineIdentity".to_owned()];
    trusted.claims = vec!["dns".to_owned()];
    let expected = ExpectedPeer::Claim {
        name: "dns".to_owned(),
        value: "telemetry.example.org".to_owned(),
    };
    let policy = IdentityPolicy::of_credentials(&["key"], vec![trusted], expected);
    PeerPolicy {
        certificates: None,
        identities: Some(policy),
    }
}

fn common(ssi: Option<SsiIdentity>) -> Config {
    Config {
        profile: &SELFSAME,
        suites: vec![Suite::AES_128_GCM_SHA256],
        groups: vec![Group::X25519],
        middleboxes: false,
        identities: Identities {
            certificate: None,
            ssi,
        },
        ..Config::default()
    }
}

/// A client's answer to a machine as its server, and the bytes of the server's flight.
async fn handshake(site: &Site, app: &App, material: &Material) -> (Result<Peer, Error>, usize) {
    let ctx = || Ctx::new(app.clock().now(), random_seed());
    let client = ClientConfig::new(common(None), trusting(site)).unwrap();
    let server = ServerConfig::new(common(Some(shown(material))), ClientAuth::None).unwrap();
    let mut client = Connection::client(&client.into(), &ctx()).unwrap();
    let mut server = Connection::server(&server.into(), &ctx());
    server.receive(&client.take_outgoing(), &ctx()).unwrap();
    let flight = server.take_outgoing();
    let gatherer = Gatherer::new(app, Reuse::default());
    let mut taken = client.receive(&flight, &ctx());
    let mut evidence = HandshakeEvidence::default();
    while taken.is_ok() && !client.is_open() {
        let needs = client.needs().to_vec();
        assert!(!needs.is_empty());
        for need in needs {
            evidence.add(gatherer.gather(&need, app.clock().now()).await);
        }
        taken = client.provide(&evidence, &ctx());
    }
    (taken.map(|()| client.peer().unwrap().clone()), flight.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_shows_its_compact_credential_until_it_is_revoked() {
    let site = Site::start().await;
    let (app, material) = machine(&site, &new_offer("machine", "cwt")).await;
    let bytes = shown(&material).vc.unwrap().bytes.len();
    assert!(bytes <= CREDENTIAL_MAX, "{bytes}");

    let (peer, flight) = handshake(&site, &app, &material).await;
    let PeerKind::Credential(credential) = peer.unwrap().kind else {
        panic!("no credential");
    };
    assert_eq!(credential.issuer, issuer(&site));
    assert_eq!(credential.subject, material.did);
    // docs/tls.md and docs/benchmarks.md state both numbers. An index takes up to 5 bytes, a port 5 digits.
    assert!((260..=270).contains(&bytes), "{bytes}");
    assert_eq!(flight - bytes, 240);

    let issuer = site.app.main().issuer().unwrap();
    let listed = issuer.issued(None, &Paging::default()).await.unwrap();
    let id = &listed.items[0].id;
    for (status, alert) in [
        (CredentialStatus::Suspended, Alert::CertificateRevoked),
        (CredentialStatus::Revoked, Alert::CertificateRevoked),
    ] {
        issuer.set_status(id, status).await.unwrap();
        // Longer than any list is cached.
        site.app.clock().advance(600);
        app.clock().advance(600);
        match handshake(&site, &app, &material).await.0 {
            Err(Error::Refused(refusal)) => assert_eq!(refusal.alert, alert),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_of_another_issuer_lets_no_machine_in() {
    let (site, other) = (Site::start().await, Site::start().await);
    let (app, material) = machine(&site, &new_offer("machine", "cwt")).await;
    match handshake(&other, &app, &material).await.0 {
        Err(Error::Refused(refusal)) => assert_eq!(refusal.alert, Alert::UnknownCa),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_told_that_the_offer_is_for_a_machine() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer_as("machine", "cwt").await;
    let wallet = app.wallet().unwrap();
    let refused = wallet.preview_offer(&offer.uri).await.unwrap_err();
    assert_eq!(refused.reason.id(), "offer-of-machine");
    let refused = wallet.accept_offer(&person, &accept(&offer)).await;
    assert_eq!(refused.unwrap_err().reason.id(), "offer-of-machine");
    // The offer is still good.
    let node = app.node().unwrap();
    let new = NewDid {
        method: "jwk".to_owned(),
        kind: None,
    };
    node.create(&new).await.unwrap();
    assert!(
        node.take(&offer.uri, None)
            .await
            .unwrap()
            .credential
            .is_some()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_is_issued_as_a_compact_credential_only_if_it_names_the_format() {
    let site = Site::start().await;
    let issuer = site.app.main().issuer().unwrap();
    let refused = issuer.create_offer(&new_offer("immunization", "cwt")).await;
    assert_eq!(refused.unwrap_err().reason.id(), "format-not-issued");
    let bare = NewOffer {
        format: None,
        claims: json!({"service": "meter"}).as_object().unwrap().clone(),
        examples: false,
        ..new_offer("machine", "cwt")
    };
    let offer = issuer.create_offer(&bare).await.unwrap();
    assert_eq!(offer.format, Format::DEFAULT.as_str());
}
