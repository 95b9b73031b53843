//! Issuers and verifiers identified by certificates: which settings an instance refuses to start with, what signs its
//! verifier's requests, and whether a verifier accepts what its issuer signs.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd,
};
use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, DatedChain, Parts};
use selfsame_core::config::{DidMethod, ResolverConfig, TrustConfig};
use selfsame_credential::evidence::{Evidence, Fetched, Need, Step};
use selfsame_credential::status::List;
use selfsame_credential::verdict::{Outcome, Policy, Trust, Verdict};
use selfsame_credential::verify::{Examination, Presented};
use selfsame_credential::{Format, Signer};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyHandle, KeyType, PrivateKey, SecretString, jws};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{ClientIdPrefix, IdentifyBy, IssuerConfig, VerifierConfig};
use selfsame_openid::issuer::lists::ListFace;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_openid4vc::holder::request::{self, ReceivedObject};
use selfsame_openid4vc::transport::Transport;
use selfsame_openid4vc::verifier::{self, Input, Reply, VerificationState};
use selfsame_openid4vc::wire::client_metadata::ClientMetadata;
use selfsame_openid4vc::wire::request::{ClientId, RequestUriMethod};
use selfsame_store::{Memory, Store, Vault};
use selfsame_wallet::config::WalletConfig;
use serde_json::{Value, json};
use url::Url;

/// A certificate authority for the organisations.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: Vec<u8>,
}

/// A certificate with its key, PEM.
struct Certified {
    chain: String,
    key: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "Test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap();
        Self {
            pem: root.pem(),
            der: root.der().to_vec(),
            issuer: Issuer::new(params, key),
        }
    }

    fn certify(&self, names: Vec<SanType>, last_year: i32) -> Certified {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = names;
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(last_year, 12, 31);
        Certified {
            chain: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }

    fn for_host(&self, host: &str) -> Certified {
        self.certify(vec![dns(host)], 2090)
    }
}

fn dns(name: &str) -> SanType {
    SanType::DnsName(name.try_into().unwrap())
}

fn uri(name: &str) -> SanType {
    SanType::URI(name.try_into().unwrap())
}

fn config(origin: &str) -> Config {
    Config {
        origin: Url::parse(origin).unwrap(),
        roles: Roles {
            issuer: true,
            wallet: false,
            verifier: true,
            registry: false,
        },
        issuer: IssuerConfig {
            did_method: Some(DidMethod::of(&selfsame_did::key::METHOD)),
            ..IssuerConfig::default()
        },
        verifier: VerifierConfig {
            did_method: Some(DidMethod::of(&selfsame_did::key::METHOD)),
            ..VerifierConfig::default()
        },
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::None,
        resolver: ResolverConfig::default(),
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    }
}

async fn open(config: Config) -> selfsame_driver::Result<Arc<App>> {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
    let net = Net::new(Settings::default()).unwrap();
    let parts = Parts {
        store,
        net,
        ledger: None,
        hsm: None,
        book_index: None,
    };
    App::open(config, parts).await.map(|(app, _)| app)
}

fn x5c_issuer(origin: &str, certified: &Certified) -> Config {
    let mut config = config(origin);
    config.issuer.identify_by = IdentifyBy::X5c;
    config.issuer.certificate = Some(certified.chain.clone());
    config.issuer.certificate_key = Some(SecretString::from(certified.key.clone()));
    config
}

fn x509_verifier(origin: &str, certified: &Certified) -> Config {
    let mut config = config(origin);
    config.verifier.client_id_prefix = ClientIdPrefix::X509SanDns;
    config.verifier.certificate = Some(certified.chain.clone());
    config.verifier.certificate_key = Some(SecretString::from(certified.key.clone()));
    config
}

/// Receives a credential as a wallet does.
async fn issued(app: &App, format: Format) -> String {
    let issuer = app.main().issuer().unwrap();
    let offer = issuer
        .create_offer(&NewOffer {
            type_id: "immunization".to_owned(),
            format: Some(format.as_str().to_owned()),
            claims: serde_json::Map::new(),
            examples: true,
            uses: None,
            tx_code: false,
            by_sign_in: false,
            needs_approval: None,
            by_reference: false,
            expires_in: None,
            label: None,
        })
        .await
        .unwrap();
    let link = Url::parse(&offer.uri).unwrap();
    let (_, offer) = link.query_pairs().next().unwrap();
    let offer: Value = serde_json::from_str(&offer).unwrap();
    let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
    let code = offer["grants"][grant]["pre-authorized_code"]
        .as_str()
        .unwrap();
    let form = format!(
        "grant_type={}&pre-authorized_code={code}",
        grant.replace(':', "%3A")
    );
    let token = issuer.token(form.as_bytes()).await.unwrap();
    let holder = PrivateKey::generate(KeyType::P256).unwrap();
    let proof = jws::Unsigned::new(
        &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": holder.public().to_jwk().to_value()}),
        &json!({"aud": offer["credential_issuer"], "iat": app.clock().now().0, "nonce": issuer.nonce().c_nonce}),
    );
    let signature = holder.sign(proof.signing_input()).unwrap();
    let body = json!({
        "credential_configuration_id": offer["credential_configuration_ids"][0],
        "proofs": {"jwt": [proof.finish(&signature)]},
    });
    let response = issuer
        .credential(token.access_token.expose(), body.to_string().as_bytes())
        .await
        .unwrap();
    response.plain().unwrap().credentials[0].credential.clone()
}

/// The document with the issuer's key, as it is served.
async fn jwt_vc_issuer(app: &App) -> Value {
    let main = app.main();
    let published = main.issuer().unwrap().published().await.unwrap();
    serde_json::from_slice(&published.jwt_vc_issuer).unwrap()
}

/// Verifies as another verifier does, with the documents that the issuer serves.
async fn judged(app: &App, (raw, format): (&str, Format), policy: &Policy) -> Verdict {
    let issuer = app.main().issuer().unwrap();
    let now = app.clock().now();
    let presented = Presented {
        format,
        raw,
        expected: None,
    };
    let examination = Examination::new(&presented).unwrap();
    let mut evidence = Evidence::default();
    loop {
        let needs = match examination.step(policy, &evidence, now) {
            Step::Done((verdict, _)) => return verdict,
            Step::Needs(needs) => needs,
        };
        for need in needs {
            match need {
                Need::StatusList(uri) => {
                    let mut path = uri.rsplit("/status/").next().unwrap().split('/');
                    let number = path.next().unwrap().parse().unwrap();
                    let face = ListFace::parse(path.next()).unwrap();
                    let served = issuer.lists().serve(number, face).await.unwrap();
                    let list =
                        List::parse(&uri, Some(served.content_type), &served.body, now).unwrap();
                    let fetched = Fetched {
                        value: Ok(Arc::new(list)),
                        at: now,
                    };
                    evidence.insert_status_list(uri, fetched);
                }
                Need::IssuerMetadata(iss) => {
                    assert_eq!(iss, identifier(app));
                    let document = issuer.published().await.unwrap().jwt_vc_issuer.to_vec();
                    let fetched = Fetched {
                        value: Ok(document),
                        at: now,
                    };
                    evidence.insert_issuer_metadata(iss, fetched);
                }
                other => panic!("what could be wanted of {other:?}?"),
            }
        }
    }
}

fn identifier(app: &App) -> String {
    format!("{}issuer", app.config().origin)
}

fn policy(issuer: &str, anchors: &[Vec<u8>]) -> Policy {
    Policy {
        trusted_issuers: Trust::Listed(vec![issuer.to_owned()]),
        trust_anchors: anchors.to_vec(),
        require_status: true,
        accept_did_issuers: true,
        // A list may be signed in the second after the time it is checked at.
        leeway: 1,
        ..Policy::default()
    }
}

fn token(raw: &str) -> jws::Compact {
    jws::Compact::parse(raw.split('~').next().unwrap()).unwrap()
}

fn rule(verdict: &Verdict, name: &str) -> Option<bool> {
    let rule = verdict.rules.iter().find(|rule| rule.name == name);
    rule.unwrap().passed
}

/// Everything verifies from issuance until revocation.
async fn stands_until_revoked(app: &App, format: Format, policy: &Policy) {
    let raw = issued(app, format).await;
    let verdict = judged(app, (&raw, format), policy).await;
    assert_eq!(verdict.outcome, Outcome::Valid, "{verdict:#?}");
    assert_eq!(rule(&verdict, "status_list_signature"), Some(true));
    let issuer = app.main().issuer().unwrap();
    let listing = issuer.issued(None, &Paging::default()).await.unwrap();
    let newest = &listing.items[0];
    issuer
        .set_status(&newest.id, CredentialStatus::Revoked)
        .await
        .unwrap();
    app.clock().advance(2);
    let verdict = judged(app, (&raw, format), policy).await;
    assert_eq!(verdict.outcome, Outcome::Revoked, "{verdict:#?}");
}

#[tokio::test]
async fn credentials_of_an_issuer_known_by_did_verify_until_they_are_revoked() {
    let app = open(config("https://issuer.example/")).await.unwrap();
    let did = app
        .main()
        .issuer()
        .unwrap()
        .identity()
        .did()
        .as_str()
        .to_owned();
    for format in Format::of_any_type() {
        stands_until_revoked(&app, format, &policy(&did, &[])).await;
    }
}

#[tokio::test]
async fn credentials_of_an_issuer_known_by_metadata_verify_until_they_are_revoked() {
    let mut config = config("https://issuer.example/");
    config.issuer.identify_by = IdentifyBy::Metadata;
    let app = open(config).await.unwrap();
    let raw = issued(&app, Format::SdJwtVc).await;
    let claims = token(&raw).claims().unwrap();
    assert_eq!(claims["iss"], "https://issuer.example/issuer");
    let published = jwt_vc_issuer(&app).await;
    assert_eq!(
        token(&raw).header.kid.as_deref(),
        published["jwks"]["keys"][0]["kid"].as_str()
    );
    stands_until_revoked(&app, Format::SdJwtVc, &policy(&identifier(&app), &[])).await;
}

#[tokio::test]
async fn credentials_of_an_issuer_known_by_certificate_verify_until_they_are_revoked() {
    let authority = Authority::new();
    let config = x5c_issuer(
        "https://issuer.example/",
        &authority.for_host("issuer.example"),
    );
    let app = open(config).await.unwrap();
    let raw = issued(&app, Format::SdJwtVc).await;
    let jwt = token(&raw);
    assert_eq!(jwt.header.x5c.map(|chain| chain.len()), Some(1));
    assert_eq!(jwt.header.kid, None);
    let anchors = std::slice::from_ref(&authority.der);
    let issuer = identifier(&app);
    stands_until_revoked(&app, Format::SdJwtVc, &policy(&issuer, anchors)).await;

    // The W3C formats do not support certificates.
    let did = app
        .main()
        .issuer()
        .unwrap()
        .identity()
        .did()
        .as_str()
        .to_owned();
    for format in [Format::JwtVcJson, Format::VcJwt] {
        stands_until_revoked(&app, format, &policy(&did, &[])).await;
    }
}

#[tokio::test]
async fn an_instance_knows_when_the_chains_end_that_it_signs_with() {
    let authority = Authority::new();
    let origin = "https://issuer.example/";
    let issuing = x5c_issuer(origin, &authority.for_host("issuer.example"));
    let until = |year| authority.certify(vec![dns("issuer.example")], year);
    let mut config = x509_verifier(origin, &until(2031));
    config.issuer = issuing.issuer;
    let app = open(config).await.unwrap();
    let ends = |purpose: &'static str, name: &str, end: &str| DatedChain {
        purpose,
        name: name.to_owned(),
        ends: UnixTime::parse_rfc3339(end).unwrap(),
    };
    let known = [
        ends("issuer", &identifier(&app), "2090-12-31T00:00:00Z"),
        ends("verifier", "issuer.example", "2031-12-31T00:00:00Z"),
    ];
    assert_eq!(app.certificate_ends(), known);
    let listener = ends("listener", "issuer.example", "2027-01-01T00:00:00Z");
    let shown = listener.clone();
    app.watch_certificates(move || vec![shown.clone()]);
    assert_eq!(app.certificate_ends().first(), Some(&listener));
}

#[tokio::test]
async fn an_issuer_on_loopback_is_known_by_the_uri_in_its_certificate() {
    let authority = Authority::new();
    let origin = "http://127.0.0.1:7380/";
    let certified = authority.certify(vec![uri("http://127.0.0.1:7380/issuer")], 2090);
    let app = open(x5c_issuer(origin, &certified)).await.unwrap();
    let policy = policy(&identifier(&app), std::slice::from_ref(&authority.der));
    stands_until_revoked(&app, Format::SdJwtVc, &policy).await;
}

#[tokio::test]
async fn a_credential_whose_certificate_leads_to_no_anchor_is_not_trusted() {
    let (authority, another) = (Authority::new(), Authority::new());
    let config = x5c_issuer(
        "https://issuer.example/",
        &authority.for_host("issuer.example"),
    );
    let app = open(config).await.unwrap();
    let raw = issued(&app, Format::SdJwtVc).await;
    for anchors in [vec![], vec![another.der]] {
        let policy = policy(&identifier(&app), &anchors);
        let verdict = judged(&app, (&raw, Format::SdJwtVc), &policy).await;
        assert_eq!(verdict.outcome, Outcome::Untrusted, "{verdict:#?}");
        assert_eq!(rule(&verdict, "certificate_chain"), Some(false));
    }
}

#[tokio::test]
async fn the_issuers_metadata_names_the_key_that_signs() {
    let authority = Authority::new();
    let certified = authority.for_host("issuer.example");
    let app = open(x5c_issuer("https://issuer.example/", &certified))
        .await
        .unwrap();
    let raw = issued(&app, Format::SdJwtVc).await;
    let published = jwt_vc_issuer(&app).await;
    let jwk = selfsame_crypto::Jwk::from_value(&published["jwks"]["keys"][0]).unwrap();
    let key = selfsame_crypto::PublicKey::from_jwk(&jwk).unwrap();
    token(&raw).verify(&key).unwrap();
}

/// The request object that a wallet fetches, with the client identifier of the link.
async fn request_object(app: &App) -> (String, String) {
    let verifier = app.main().verifier().unwrap();
    let made = verifier
        .create_request(&NewRequest {
            type_id: Some("immunization".to_owned()),
            ..NewRequest::default()
        })
        .await
        .unwrap();
    let link = Url::parse(&made.uri).unwrap();
    let mut pairs = link.query_pairs();
    let (_, client_id) = pairs.find(|(name, _)| name == "client_id").unwrap();
    let object = verifier.request_object(&made.id, None).await.unwrap();
    (client_id.into_owned(), object)
}

/// The result of receiving a request, for a wallet with these trust anchors.
fn received(
    app: &App,
    (client_id, object): (&str, &str),
    anchors: &[Vec<u8>],
) -> Result<String, String> {
    let received = ReceivedObject {
        client_id,
        object,
        request_uri: None,
        wallet_nonce: None,
    };
    let transport = Transport::with_plain_origins([&app.config().origin]);
    let trust = request::WalletTrust {
        transactions: &[],
        transport: &transport,
        anchors,
    };
    let now = app.clock().now();
    match request::authenticate(&received, &trust, &Evidence::default(), now) {
        Ok(Step::Done(asked)) => Ok(asked.verifier.name),
        Ok(Step::Needs(needs)) => panic!("what could be wanted of {needs:?}?"),
        Err(refused) => Err(refused.error.to_string()),
    }
}

const UNTRUSTED: &str = "the verifier's certificate is not trusted here";

#[tokio::test]
async fn a_request_of_a_certified_verifier_is_accepted_by_wallets_with_the_anchor_only() {
    let (authority, another) = (Authority::new(), Authority::new());
    let certified = authority.certify(vec![dns("other.example"), dns("verifier.example")], 2090);
    let app = open(x509_verifier("https://verifier.example/", &certified))
        .await
        .unwrap();
    let (client_id, object) = request_object(&app).await;
    // Of the certificate's names, the one of the origin's host.
    assert_eq!(client_id, "x509_san_dns:verifier.example");
    let header = token(&object).header;
    assert_eq!(header.x5c.map(|chain| chain.len()), Some(1));
    assert_eq!(header.kid, None);
    let seen_by = |anchors: &[Vec<u8>]| received(&app, (&client_id, &object), anchors);
    assert_eq!(
        seen_by(std::slice::from_ref(&authority.der)).as_deref(),
        Ok("verifier.example")
    );
    for anchors in [vec![], vec![another.der]] {
        assert!(seen_by(&anchors).unwrap_err().contains(UNTRUSTED));
    }
}

#[tokio::test]
async fn a_request_with_an_expired_certificate_is_refused() {
    let authority = Authority::new();
    let certified = authority.certify(vec![dns("verifier.example")], 2021);
    let app = open(x509_verifier("https://verifier.example/", &certified))
        .await
        .unwrap();
    let (client_id, object) = request_object(&app).await;
    let refused = received(
        &app,
        (&client_id, &object),
        std::slice::from_ref(&authority.der),
    );
    assert!(refused.unwrap_err().contains(UNTRUSTED));
}

#[tokio::test]
async fn a_request_in_the_name_of_another_host_is_refused() {
    let authority = Authority::new();
    let certified = authority.for_host("verifier.example");
    let app = open(x509_verifier("https://verifier.example/", &certified))
        .await
        .unwrap();
    let key = PrivateKey::from_pkcs8(&der(&certified.key)).unwrap();
    for (name, accepted) in [("verifier.example", true), ("bank.example", false)] {
        let client_id = format!("x509_san_dns:{name}");
        let object = signed_as(&app, &client_id, (&key, der(&certified.chain)));
        let outcome = received(
            &app,
            (&client_id, &object),
            std::slice::from_ref(&authority.der),
        );
        match outcome {
            Ok(seen) => assert!(accepted && seen == name),
            Err(reason) => assert!(
                !accepted && reason.contains("is not for the name"),
                "{reason}"
            ),
        }
    }
}

/// A request object for any client identifier, signed with a certificate.
fn signed_as(app: &App, client_id: &str, (key, leaf): (&PrivateKey, Vec<u8>)) -> String {
    // A wallet requires the host of the response URI to be the one in the certificate.
    let (_, host) = client_id.split_once(':').unwrap();
    let at = |path: &str| Url::parse(&format!("https://{host}/{path}")).unwrap();
    let query = json!({"credentials": [{"id": "a", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:a"]}}]});
    let new = verifier::request::NewRequest {
        client: ClientId::parse(client_id).unwrap(),
        response_uri: at("responses/1"),
        request_uri: Some(at("requests/1")),
        request_uri_method: RequestUriMethod::Get,
        redirect_uri: None,
        query: selfsame_openid4vc::dcql::DcqlQuery::parse(&query).unwrap(),
        metadata: ClientMetadata {
            vp_formats_supported: [("dc+sd-jwt".to_owned(), Default::default())].into(),
            ..ClientMetadata::default()
        },
        purpose: None,
        transaction_data: Vec::new(),
        encrypted: false,
        lifetime: 600,
    };
    let ctx = app.clock().ctx();
    let state = VerificationState::Created(verifier::request::create(new, &ctx).unwrap());
    let signer = Signer {
        key: KeyHandle::of(key.public()),
        algorithm: Algorithm::Es256,
        kid: None,
        x5c: vec![leaf],
    };
    let mut evidence = Evidence::default();
    loop {
        let input = Input::Fetch {
            signer: &signer,
            wallet_nonce: None,
        };
        match verifier::step(&state, input, &evidence, &ctx).unwrap() {
            Step::Done(next) => match next.reply {
                Some(Reply::RequestObject(object)) => return object,
                other => panic!("{other:?} is no request object"),
            },
            Step::Needs(needs) => {
                for need in needs {
                    let Need::Signature(request) = need else {
                        panic!("what could be wanted of {need:?}?")
                    };
                    let signature = key.sign(&request.bytes).unwrap();
                    evidence.insert_signature(request, signature);
                }
            }
        }
    }
}

fn der(pem: &str) -> Vec<u8> {
    let body: String = pem
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    selfsame_crypto::encoding::base64_decode(&body).unwrap()
}

/// The error of an instance that does not start.
async fn refusal(config: Config) -> String {
    let error = open(config).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::BadRequest);
    error.to_string()
}

#[tokio::test]
async fn an_instance_does_not_start_with_the_key_of_another_certificate() {
    let authority = Authority::new();
    let origin = "https://party.example/";
    let mut mixed = authority.for_host("party.example");
    mixed.key = authority.for_host("party.example").key;
    for (config, section) in [
        (x5c_issuer(origin, &mixed), "section: issuer"),
        (x509_verifier(origin, &mixed), "section: verifier"),
    ] {
        let reason = refusal(config).await;
        assert!(reason.contains(section), "{reason}");
        assert!(reason.contains("certificate-of-other-key"), "{reason}");
    }
}

#[tokio::test]
async fn an_instance_does_not_start_with_half_of_what_a_certificate_needs() {
    let certified = Authority::new().for_host("party.example");
    let origin = "https://party.example/";
    type Change = fn(&mut Config);
    let removals: [Change; 3] = [
        |config| config.verifier.certificate = None,
        |config| config.verifier.certificate_key = None,
        |config| {
            config.verifier.certificate = None;
            config.verifier.certificate_key = None;
        },
    ];
    for remove in removals {
        let mut config = x509_verifier(origin, &certified);
        remove(&mut config);
        let reason = refusal(config).await;
        let mut ids = ["certificate-incomplete", "certificate-lacking"].iter();
        assert!(ids.any(|id| reason.starts_with(id)), "{reason}");
    }
    let mut config = config(origin);
    config.issuer.identify_by = IdentifyBy::X5c;
    let reason = refusal(config).await;
    assert!(reason.contains("identify_by"), "{reason}");
}

#[tokio::test]
async fn an_instance_does_not_start_with_a_certificate_for_somebody_else() {
    let authority = Authority::new();
    for (origin, name) in [
        ("https://issuer.example/", dns("other.example")),
        (
            "https://issuer.example/",
            uri("https://issuer.example/other"),
        ),
        // A host name alone proves nothing without TLS.
        ("http://localhost:7380/", dns("localhost")),
    ] {
        let config = x5c_issuer(origin, &authority.certify(vec![name], 2090));
        let reason = refusal(config).await;
        assert!(reason.contains("certificate-of-other-issuer"), "{reason}");
    }
    for (origin, name) in [
        ("https://verifier.example/", "*.verifier.example"),
        ("https://verifier.example/", "other.example"),
        ("https://127.0.0.1/", "verifier.example"),
    ] {
        let reason = refusal(x509_verifier(origin, &authority.for_host(name))).await;
        assert!(reason.contains("certificate-of-other-host"), "{reason}");
    }
}

#[tokio::test]
async fn an_instance_does_not_start_with_keys_and_anchors_that_cannot_be_read() {
    let authority = Authority::new();
    let origin = "https://verifier.example/";
    let mut sealed = authority.for_host("verifier.example");
    sealed.key = sealed.key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let reason = refusal(x509_verifier(origin, &sealed)).await;
    assert!(reason.contains("certificate-key-unreadable"), "{reason}");

    let broken = authority.pem.replace("-----END", "-----");
    let hollow = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    for anchor in ["anchor.pem", &broken, hollow] {
        let mut config = config(origin);
        config.trust.certificates = vec![authority.pem.clone(), anchor.to_owned()];
        let reason = refusal(config).await;
        assert!(reason.starts_with("anchor-"), "{reason}");
    }
    let mut config = config(origin);
    config.trust.certificates = vec![authority.pem.clone()];
    open(config).await.unwrap();
}

#[tokio::test]
async fn the_settings_that_stay_in_memory_hold_no_key() {
    let authority = Authority::new();
    let certified = authority.for_host("party.example");
    let mut config = x5c_issuer("https://party.example/", &certified);
    config.verifier = x509_verifier("https://party.example/", &certified).verifier;
    let app = open(config).await.unwrap();
    assert_eq!(app.config().issuer.certificate_key, None);
    assert_eq!(app.config().verifier.certificate_key, None);
    let (client_id, object) = request_object(&app).await;
    let anchors = std::slice::from_ref(&authority.der);
    received(&app, (&client_id, &object), anchors).unwrap();
}
