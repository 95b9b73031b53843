use super::*;

const DID: &str = "did:example:alice";

fn service_of(service: Value) -> Option<V2Service> {
    let document = Document::from_value(json!({"id": DID, "service": [service]})).unwrap();
    V2Service::of(&document)
}

fn dm(endpoint: Value) -> Option<V2Service> {
    service_of(json!({"id": "#s", "type": "DIDCommMessaging", "serviceEndpoint": endpoint}))
}

#[test]
fn an_endpoint_is_an_object_a_list_or_a_url() {
    let url = V2Endpoint::Url("https://example.com/path".parse().unwrap());
    let key = "did:example:mediator#key-x25519-1";
    let object = json!({
        "uri": "https://example.com/path",
        "accept": ["didcomm/v2", "didcomm/aip2;env=rfc587"],
        "routingKeys": [key],
    });
    let expected = V2Service {
        to: url.clone(),
        through: vec![DidUrl::parse(key).unwrap()],
    };
    assert_eq!(dm(object.clone()).as_ref(), Some(&expected));
    let other = json!({"uri": "https://example.com/old", "accept": ["didcomm/aip1"]});
    assert_eq!(dm(json!([other, object])).as_ref(), Some(&expected));
    assert_eq!(dm(json!("https://example.com/path")).unwrap().to, url);
}

#[test]
fn an_endpoint_can_be_a_mediator() {
    let found = dm(json!({"uri": "did:example:mediator"})).unwrap();
    let mediator = "did:example:mediator".parse().unwrap();
    assert_eq!(found.to, V2Endpoint::Mediator(mediator));
}

#[test]
fn what_no_message_can_be_posted_to_is_none() {
    for endpoint in [
        json!({"uri": "ftp://example.com/"}),
        json!({"uri": "nowhere"}),
        json!({"uri": 7}),
        json!({"accept": ["didcomm/v2"]}),
        json!({"uri": "https://example.com/", "accept": ["didcomm/aip1"]}),
        json!({"uri": "https://example.com/", "routingKeys": ["no DID"]}),
        json!({"uri": "https://example.com/", "routingKeys": vec!["did:example:m"; 7]}),
        json!([]),
    ] {
        assert_eq!(dm(endpoint.clone()), None, "{endpoint}");
    }
    let old = json!({"id": "#s", "type": "did-communication", "serviceEndpoint": "https://a/"});
    assert_eq!(service_of(old), None);
}

#[test]
fn the_services_of_an_agent_are_read_again() {
    let url: Url = "https://agent.example/".parse().unwrap();
    let mut members = services(&[&url]).remove(0);
    members.insert("id".to_owned(), json!("#s"));
    let found = service_of(Value::Object(members)).unwrap();
    assert_eq!(found.to, V2Endpoint::Url(url));
    assert!(found.through.is_empty());
}
