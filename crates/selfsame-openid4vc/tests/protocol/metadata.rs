//! Tests of issuer metadata and offers, as both sides handle them.

use selfsame_openid4vc::{
    Error, Transport,
    issuer::{
        metadata::{build, server},
        offer::NewOffer,
    },
    wallet::{
        metadata::{
            AuthorizationServer, check_offered, issuer_location, read_issuer, read_server, servers,
        },
        offer::{OfferSource, locate, read},
    },
    wire::{
        metadata::IssuerMetadata,
        offer::{CredentialOffer, by_reference},
    },
};
use serde_json::{Value, json};

use crate::world::{
    COMPACT, ISSUER, Issuer, SD_JWT, SIGNER, TICKET, W3C, description, new_offer, transport, url,
    with,
};

const JSON: Option<&str> = Some("application/json");

fn offer() -> CredentialOffer {
    Issuer::new().offer(SD_JWT).offer
}

fn document() -> Value {
    serde_json::to_value(build(&description()).unwrap()).unwrap()
}

fn reads(document: &Value) -> Result<IssuerMetadata, Error> {
    let document = document.to_string();
    let metadata = read_issuer(document.as_bytes(), JSON, &offer(), &transport())?;
    check_offered(&metadata, &offer())?;
    Ok(metadata)
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert!(
        matches!(result, Err(Error::Counterpart { .. })),
        "{result:?}"
    );
}

// ---- issuer metadata

#[test]
fn metadata_is_found_between_host_and_path() {
    let location = issuer_location(&offer(), &transport()).unwrap();
    let expected = "https://issuer.example/.well-known/openid-credential-issuer/tenant";
    assert_eq!(location.as_str(), expected);
}

#[test]
fn an_issuer_identifier_with_a_query_a_fragment_or_without_tls_is_refused() {
    for bad in [
        "https://issuer.example/?a=b",
        "https://issuer.example/#a",
        "http://issuer.example",
        "did:web:issuer.example",
        "issuer.example",
    ] {
        let offer = CredentialOffer {
            credential_issuer: bad.to_owned(),
            ..offer()
        };
        refused(issuer_location(&offer, &transport()));
    }
    let mut description = description();
    description.identifier = "https://issuer.example/?a=b".to_owned();
    assert!(matches!(build(&description), Err(Error::Setup(_))));
}

#[test]
fn metadata_has_the_required_members_and_no_unknown_ones() {
    let document = document();
    let names: Vec<&String> = document.as_object().unwrap().keys().collect();
    let expected = [
        "batch_credential_issuance",
        "credential_configurations_supported",
        "credential_endpoint",
        "credential_issuer",
        "display",
        "nonce_endpoint",
    ];
    assert_eq!(names, expected);
    let configuration = &document["credential_configurations_supported"][SD_JWT];
    let names: Vec<&String> = configuration.as_object().unwrap().keys().collect();
    let expected = [
        "credential_metadata",
        "credential_signing_alg_values_supported",
        "cryptographic_binding_methods_supported",
        "format",
        "proof_types_supported",
        "vct",
    ];
    assert_eq!(names, expected);
    let compact = &document["credential_configurations_supported"][COMPACT];
    assert_eq!(compact["format"], "cwt");
    assert_eq!(compact["issuer"], SIGNER);
    let numbers = &compact["credential_signing_alg_values_supported"];
    assert_eq!(*numbers, json!([-19, -9]));
    let types = &compact["credential_definition"]["type"];
    assert_eq!(types[1], "VaccinationCredential");
    let configuration = &document["credential_configurations_supported"][W3C];
    let expected = json!({"type": ["VerifiableCredential", "VaccinationCredential"]});
    assert_eq!(configuration["credential_definition"], expected);
    assert_eq!(configuration["format"], "jwt_vc_json");
}

#[test]
fn a_wallet_reads_metadata_and_ignores_what_it_does_not_know() {
    let document = with(
        &document(),
        json!({"brand_new": {"x": 1}, "signed_metadata": "x"}),
    );
    let metadata = reads(&document).unwrap();
    assert_eq!(metadata, build(&description()).unwrap());
    assert_eq!(metadata.batch_size(), 3);
}

#[test]
fn what_is_offered_must_be_described_and_described_well() {
    let mut metadata = build(&description()).unwrap();
    let other = Issuer::new().offer(W3C).offer;
    let configurations = &mut metadata.credential_configurations_supported;
    configurations.remove(W3C);
    assert!(check_offered(&metadata, &offer()).is_ok());
    refused(check_offered(&metadata, &other));
    let mut untyped = document();
    untyped["credential_configurations_supported"][W3C]["credential_definition"] = Value::Null;
    let untyped = untyped.to_string();
    // An error in one credential's metadata does not block the offers of others.
    let metadata = read_issuer(untyped.as_bytes(), JSON, &offer(), &transport()).unwrap();
    assert!(check_offered(&metadata, &offer()).is_ok());
    refused(check_offered(&metadata, &other));
}

#[test]
fn a_configuration_of_an_unknown_format_does_not_make_the_metadata_invalid() {
    let mut document = document();
    document["credential_configurations_supported"]["other"] = json!({"doctype": 7});
    let mdoc = json!({"format": "mso_other", "doctype": "x", "credential_signing_alg_values_supported": [-7]});
    document["credential_configurations_supported"]["mdoc"] = mdoc;
    let metadata = reads(&document).unwrap();
    assert!(metadata.configuration("other").is_none());
    assert!(
        metadata
            .configuration("mdoc")
            .unwrap()
            .known_format()
            .is_none()
    );
}

#[test]
fn metadata_that_names_another_issuer_is_not_used() {
    for other in [
        "https://issuer.example/tenant/",
        "https://ISSUER.example/tenant",
        "https://evil.example",
    ] {
        refused(reads(&with(
            &document(),
            json!({"credential_issuer": other}),
        )));
    }
}

#[test]
fn metadata_that_is_not_json_or_repeats_a_member_is_not_used() {
    let text = document().to_string();
    refused(read_issuer(
        text.as_bytes(),
        Some("application/jwt"),
        &offer(),
        &transport(),
    ));
    refused(read_issuer(text.as_bytes(), None, &offer(), &transport()));
    let repeated = text.replacen('{', &format!(r#"{{"credential_issuer":"{ISSUER}","#), 1);
    refused(read_issuer(
        repeated.as_bytes(),
        JSON,
        &offer(),
        &transport(),
    ));
    assert!(
        read_issuer(
            text.as_bytes(),
            Some("application/json; charset=utf-8"),
            &offer(),
            &transport()
        )
        .is_ok()
    );
}

#[test]
fn metadata_without_a_required_member_is_not_used() {
    for name in [
        "credential_issuer",
        "credential_endpoint",
        "credential_configurations_supported",
    ] {
        refused(reads(&with(&document(), json!({name: null}))));
    }
}

#[test]
fn endpoints_without_tls_are_not_used() {
    for name in ["credential_endpoint", "nonce_endpoint"] {
        refused(reads(&with(
            &document(),
            json!({name: "http://issuer.example/x"}),
        )));
    }
    // Plain http is allowed for the configured origin of our own instance.
    let own = Transport::with_plain_origins([&url("http://127.0.0.1:7380")]);
    let local = with(
        &document(),
        json!({"nonce_endpoint": "http://127.0.0.1:7380/nonce"}),
    );
    assert!(read_issuer(local.to_string().as_bytes(), JSON, &offer(), &own).is_ok());
}

#[test]
fn a_batch_size_is_two_or_more() {
    let mut single = description();
    single.batch_size = 1;
    let metadata = build(&single).unwrap();
    assert_eq!(metadata.batch_credential_issuance, None);
    assert_eq!(metadata.batch_size(), 1);
    refused(reads(&with(
        &document(),
        json!({"batch_credential_issuance": {"batch_size": 1}}),
    )));
}

#[test]
fn display_has_one_entry_a_language() {
    let two = json!([{"name": "a", "locale": "en"}, {"name": "b", "locale": "EN"}]);
    refused(reads(&with(&document(), json!({"display": two}))));
    let mut description = description();
    let entry = description.display[0].clone();
    description.display.push(entry);
    assert!(matches!(build(&description), Err(Error::Setup(_))));
}

#[test]
fn binding_methods_and_proof_types_come_together() {
    let configuration = |id: &str| document()["credential_configurations_supported"][id].clone();
    assert!(configuration(SD_JWT).get("proof_types_supported").is_some());
    assert!(configuration(TICKET).get("proof_types_supported").is_none());
    assert!(
        configuration(TICKET)
            .get("cryptographic_binding_methods_supported")
            .is_none()
    );
    for name in [
        "proof_types_supported",
        "cryptographic_binding_methods_supported",
    ] {
        let mut document = document();
        let lone = with(&configuration(SD_JWT), json!({name: null}));
        document["credential_configurations_supported"][SD_JWT] = lone;
        refused(reads(&document));
    }
}

#[test]
fn a_configuration_names_its_type() {
    let mut document = document();
    let untyped = with(
        &document["credential_configurations_supported"][SD_JWT],
        json!({"vct": null}),
    );
    document["credential_configurations_supported"][SD_JWT] = untyped;
    refused(reads(&document));
    let mut description = description();
    description.credentials.get_mut(W3C).unwrap().types.clear();
    assert!(matches!(build(&description), Err(Error::Setup(_))));
}

#[test]
fn descriptions_of_claims_that_repeat_or_contradict_each_other_are_refused() {
    let reads_claims = |claims: Value| {
        let mut document = document();
        document["credential_configurations_supported"][SD_JWT]["credential_metadata"]["claims"] =
            claims;
        reads(&document)
    };
    assert!(
        reads_claims(json!([{"path": ["a", "b"]}, {"path": ["a"]}, {"path": ["c", null, "d"]}]))
            .is_ok()
    );
    refused(reads_claims(json!([{"path": ["a"]}, {"path": ["a"]}])));
    refused(reads_claims(
        json!([{"path": ["a", null]}, {"path": ["a", 1]}]),
    ));
    refused(reads_claims(
        json!([{"path": ["a", null]}, {"path": ["a", "b"]}]),
    ));
}

#[test]
fn an_issuer_that_insists_on_encryption_unknown_here_is_refused_and_one_that_offers_it_is_not() {
    for name in [
        "credential_request_encryption",
        "credential_response_encryption",
    ] {
        assert!(
            reads(&with(
                &document(),
                json!({name: {"encryption_required": false}})
            ))
            .is_ok()
        );
        refused(reads(&with(
            &document(),
            json!({name: {"encryption_required": true}}),
        )));
    }
}

// ---- authorization server

fn only(found: Result<Vec<AuthorizationServer>, Error>) -> AuthorizationServer {
    let [server]: [AuthorizationServer; 1] = found.unwrap().try_into().unwrap();
    server
}

#[test]
fn an_issuer_without_authorization_servers_is_its_own() {
    let metadata = build(&description()).unwrap();
    let chosen = only(servers(&metadata, &offer(), &transport()));
    assert_eq!(chosen.issuer, ISSUER);
    let expected = "https://issuer.example/.well-known/oauth-authorization-server/tenant";
    assert_eq!(chosen.url.as_str(), expected);
    let document = serde_json::to_vec(&server(&description())).unwrap();
    let server = read_server(&document, &chosen, &transport()).unwrap();
    assert!(server.anonymous_access_supported);
}

#[test]
fn server_metadata_of_another_server_is_not_used() {
    let metadata = build(&description()).unwrap();
    let chosen = only(servers(&metadata, &offer(), &transport()));
    let document = serde_json::to_value(server(&description())).unwrap();
    let bad = with(&document, json!({"issuer": "https://evil.example"}));
    refused(read_server(
        bad.to_string().as_bytes(),
        &chosen,
        &transport(),
    ));
    let plain = with(
        &document,
        json!({"token_endpoint": "http://issuer.example/token"}),
    );
    refused(read_server(
        plain.to_string().as_bytes(),
        &chosen,
        &transport(),
    ));
}

#[test]
fn an_offer_chooses_among_the_issuers_servers_and_no_others() {
    let mut metadata = build(&description()).unwrap();
    let mut offer = offer();
    let hint = |offer: &mut CredentialOffer, server: &str| {
        let grants = offer.grants.as_mut().unwrap();
        grants
            .pre_authorized_code
            .as_mut()
            .unwrap()
            .authorization_server = Some(server.to_owned());
    };
    hint(&mut offer, "https://two.example");
    refused(servers(&metadata, &offer, &transport()));
    metadata.authorization_servers = Some(vec![
        "https://one.example".to_owned(),
        "https://two.example".to_owned(),
    ]);
    let chosen = only(servers(&metadata, &offer, &transport()));
    assert_eq!(chosen.issuer, "https://two.example");
    hint(&mut offer, "https://three.example");
    refused(servers(&metadata, &offer, &transport()));
}

#[test]
fn an_issuers_servers_are_tried_in_its_order_and_few_of_them() {
    let mut metadata = build(&description()).unwrap();
    let tried = |metadata: &IssuerMetadata| -> Vec<String> {
        let found = servers(metadata, &offer(), &transport()).unwrap();
        found.into_iter().map(|server| server.issuer).collect()
    };
    let named = |n: usize| format!("https://{n}.example");
    metadata.authorization_servers = Some((0..9).map(named).collect());
    assert_eq!(tried(&metadata), (0..4).map(named).collect::<Vec<_>>());
    // A server that cannot be queried does not block the others.
    metadata.authorization_servers = Some(vec!["http://0.example".to_owned(), named(1)]);
    assert_eq!(tried(&metadata), [named(1)]);
    for none in [vec![], vec!["http://0.example".to_owned()]] {
        metadata.authorization_servers = Some(none);
        refused(servers(&metadata, &offer(), &transport()));
    }
}

// ---- offers

#[test]
fn an_offer_by_value_reads_back() {
    let made = Issuer::new().offer_of(&NewOffer {
        tx_code: Some("We sent it by letter".to_owned()),
        ..new_offer(SD_JWT)
    });
    let link = made.offer.by_value();
    assert!(
        link.expose()
            .starts_with("openid-credential-offer://?credential_offer=%7B")
    );
    let OfferSource::Value(offer) = locate(link.expose(), &transport()).unwrap() else {
        panic!()
    };
    assert_eq!(offer.to_json(), made.offer.to_json());
    let tx_code = offer
        .pre_authorized_code()
        .unwrap()
        .tx_code
        .clone()
        .unwrap();
    assert_eq!(
        (tx_code.length, tx_code.description.as_deref()),
        (Some(6), Some("We sent it by letter"))
    );
}

#[test]
fn an_offer_may_come_as_its_own_json() {
    let made = Issuer::new().offer(SD_JWT);
    let json = made.offer.to_json();
    let padded = format!("\n {} ", json.expose());
    let OfferSource::Value(offer) = locate(&padded, &transport()).unwrap() else {
        panic!()
    };
    assert_eq!(offer.to_json(), json);
    for bad in [
        "{",
        "{}",
        r#"{"credential_issuer": "https://issuer.example"}"#,
    ] {
        refused(locate(bad, &transport()));
    }
}

#[test]
fn an_offer_by_reference_is_fetched_as_json() {
    let made = Issuer::new().offer(SD_JWT);
    let there = url("https://issuer.example/tenant/offers/7?x=y");
    let link = by_reference(&there);
    let OfferSource::Reference(found) = locate(link.expose(), &transport()).unwrap() else {
        panic!()
    };
    assert_eq!(found, there);
    let body = made.offer.to_json();
    assert!(read(body.expose().as_bytes(), JSON).is_ok());
    refused(read(body.expose().as_bytes(), Some("application/jwt")));
    refused(read(body.expose().as_bytes(), None));
}

#[test]
fn an_offer_may_come_by_an_https_link() {
    let query = Issuer::new().offer(SD_JWT).offer.by_value();
    let query = query.expose().split_once('?').unwrap().1.to_owned();
    assert!(
        locate(
            &format!("https://wallet.example/offer?{query}"),
            &transport()
        )
        .is_ok()
    );
    refused(locate(
        &format!("http://wallet.example/offer?{query}"),
        &transport(),
    ));
    refused(locate(&format!("openid4vp://?{query}"), &transport()));
}

#[test]
fn a_link_with_both_or_neither_kind_of_offer_is_refused() {
    let by_value = Issuer::new().offer(SD_JWT).offer.by_value();
    refused(locate(
        &format!(
            "{}&credential_offer_uri=https%3A%2F%2Fa.example",
            by_value.expose()
        ),
        &transport(),
    ));
    refused(locate("openid-credential-offer://?x=y", &transport()));
    refused(locate("not a link", &transport()));
}

#[test]
fn an_offer_that_points_to_a_place_without_tls_is_refused() {
    for bad in [
        "http://issuer.example/offer",
        "file:///etc/passwd",
        "http://127.0.0.1:1/",
        "x",
    ] {
        let link = selfsame_oauth::form::encode(&[("credential_offer_uri", bad)]);
        refused(locate(
            &format!("openid-credential-offer://?{link}"),
            &transport(),
        ));
    }
}

#[test]
fn an_offer_names_its_configurations_each_once() {
    let offer = |ids: Value| {
        json!({"credential_issuer": ISSUER, "credential_configuration_ids": ids}).to_string()
    };
    assert!(CredentialOffer::parse(offer(json!(["a", "b"])).as_bytes()).is_ok());
    for bad in [json!([]), json!(["a", "a"]), json!("a"), json!([1])] {
        assert!(CredentialOffer::parse(offer(bad).as_bytes()).is_err());
    }
}

#[test]
fn unknown_members_and_grants_of_an_offer_are_ignored() {
    let text = json!({
        "credential_issuer": ISSUER,
        "credential_configuration_ids": ["a"],
        "brand_new": 1,
        "grants": {"authorization_code": {"issuer_state": "x"}, "brand:new": {}},
    });
    let offer = CredentialOffer::parse(text.to_string().as_bytes()).unwrap();
    assert!(offer.pre_authorized_code().is_none());
}

#[test]
fn a_transaction_code_that_says_nothing_of_itself_is_still_asked_for() {
    let text = json!({
        "credential_issuer": ISSUER,
        "credential_configuration_ids": ["a"],
        "grants": {"urn:ietf:params:oauth:grant-type:pre-authorized_code": {"pre-authorized_code": "c", "tx_code": {}}},
    });
    let offer = CredentialOffer::parse(text.to_string().as_bytes()).unwrap();
    assert!(offer.pre_authorized_code().unwrap().tx_code.is_some());
}

#[test]
fn a_description_of_a_transaction_code_has_300_characters_at_most() {
    let issuer = Issuer::new();
    let with_description = |length: usize| {
        let new = NewOffer {
            tx_code: Some("é".repeat(length)),
            ..new_offer(SD_JWT)
        };
        selfsame_openid4vc::issuer::offer::create(&new, &issuer.settings, &crate::world::ctx(1))
    };
    assert!(with_description(300).is_ok());
    assert!(matches!(with_description(301), Err(Error::Setup(_))));
}

#[test]
fn what_is_not_issued_cannot_be_offered() {
    let issuer = Issuer::new();
    let create = |new: &NewOffer| {
        selfsame_openid4vc::issuer::offer::create(new, &issuer.settings, &crate::world::ctx(1))
    };
    assert!(create(&new_offer(SD_JWT)).is_ok());
    assert!(matches!(
        create(&new_offer("nothing")),
        Err(Error::Setup(_))
    ));
    assert!(matches!(
        create(&NewOffer {
            uses: 0,
            ..new_offer(SD_JWT)
        }),
        Err(Error::Setup(_))
    ));
}

#[test]
fn metadata_and_what_it_describes_come_as_objects() {
    let good = document();
    assert!(reads(&good).is_ok());
    let [issuer, endpoint, described] = [
        "credential_issuer",
        "credential_endpoint",
        "credential_configurations_supported",
    ]
    .map(|name| &good[name]);
    // The members are in the order in which our own code writes them.
    let members = json!([
        issuer,
        null,
        endpoint,
        null,
        null,
        null,
        null,
        [],
        described
    ]);
    assert!(reads(&members).is_err());
    let mut document = good.clone();
    let vct = &described[SD_JWT]["vct"];
    document["credential_configurations_supported"][SD_JWT] =
        json!(["dc+sd-jwt", null, null, null, null, vct, null, null]);
    assert!(reads(&document).is_err());
}
