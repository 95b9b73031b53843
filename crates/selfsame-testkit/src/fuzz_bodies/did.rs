//! Properties of DIDs, DID documents, and the answers of external resolvers and registrars.

use std::str;

use selfsame_crypto::json::{self, Limits};
use selfsame_did::method::cheqd::resource::{self, WantedResource};
use selfsame_did::registrar::{Operation, RegistrarAnswer, RegistrarRequest};
use selfsame_did::{
    Did, DidUrl, Document, Options, Relationship, Representation, Resolution, ResolutionPlan, web,
};
use serde_json::{Map, json};

const CHEQD: &str = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
const RESOURCE: &str = "9ba3922e-d5f5-4f53-b265-fc0d4e988c77";

/// A DID URL: it reads back as the same text, its DID has a resolution plan, and did:web stays at its own address.
pub fn did_url(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else {
        return false;
    };
    let Ok(url) = DidUrl::parse(text) else {
        assert!(Did::parse(text).is_err(), "a DID is a DID URL");
        return false;
    };
    assert_eq!(url.to_string(), text, "a DID URL reads back as itself");
    assert!(text.starts_with(url.did.as_str()));
    let rest = text.strip_prefix(url.did.as_str()).unwrap_or_default();
    assert_eq!(Did::parse(text).is_ok(), rest.is_empty());
    assert_eq!(DidUrl::join(&url.did, text).as_ref(), Ok(&url));
    match url.did.plan(&Options::default()) {
        Ok(ResolutionPlan::Done(resolution)) => {
            let document = resolution.document.expect("it is done");
            assert_eq!(document.id, url.did, "the document is the DID's own");
        }
        Ok(ResolutionPlan::Fetch { url: address }) => {
            assert_eq!(address.scheme(), "https");
            assert!(address.username().is_empty() && address.password().is_none());
            assert!(address.query().is_none() && address.fragment().is_none());
            let _ = web::read(&url.did, data);
        }
        Ok(ResolutionPlan::Log { url: address, .. }) => {
            assert_eq!(address.scheme(), "https");
            assert!(address.username().is_empty() && address.password().is_none());
            assert!(address.query().is_none() && address.fragment().is_none());
            assert!(address.path().ends_with("/did.jsonl"));
        }
        Ok(ResolutionPlan::Registry { .. } | ResolutionPlan::Resolver(_)) | Err(_) => {}
    }
    true
}

/// A DID document: it belongs to the requested DID, and reads back as itself from each representation.
pub fn did_document(data: &[u8]) -> bool {
    let asked = json::parse(data, &Limits::default())
        .ok()
        .and_then(|value| Did::parse(value.get("id")?.as_str()?).ok());
    let Some(asked) = asked else {
        let other = Did::parse("did:example:other").expect("it is a DID");
        assert!(Document::parse(data, &other).is_err());
        return false;
    };
    let Ok(document) = Document::parse(data, &asked) else {
        return false;
    };
    assert_eq!(document.id, asked);
    for representation in [
        Representation::Did,
        Representation::JsonLd,
        Representation::Json,
    ] {
        let written = document.to_value(representation);
        let again = Document::from_value(written.clone()).expect("what we write can be read");
        assert_eq!(
            again.to_value(representation),
            written,
            "{representation:?}"
        );
        // Nothing is lost except the contexts, which plain JSON does not have.
        assert_eq!(
            again.to_value(Representation::Json),
            document.to_value(Representation::Json),
            "{representation:?}"
        );
    }
    for relationship in Relationship::ALL {
        for (id, key) in document.keys(relationship) {
            let found = document.key(&id, relationship);
            assert_eq!(found.as_ref(), Ok(&key), "a key is found by its name");
        }
    }
    true
}

/// A DID URL, a zero byte, and a resolver's answer. A result is about the requested DID and names its source; a
/// resource is the requested one.
pub fn resolver_answer(data: &[u8]) -> bool {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (Some(url), Some(answer)) = (parts.next(), parts.next()) else {
        return false;
    };
    let url = str::from_utf8(url)
        .ok()
        .and_then(|url| DidUrl::parse(url).ok());
    let Some(url) = url else {
        return false;
    };
    let origin = "https://resolver.example";
    let told = Resolution::told(answer, &url.did, &Options::default(), origin);
    assert_eq!(told.metadata.trusted_resolver.as_deref(), Some(origin));
    if let Ok(document) = told.document() {
        assert_eq!(document.id, url.did, "the document is the DID's own");
    }
    let Ok(Some(wanted)) = resource::wanted(&url) else {
        return told.document().is_ok();
    };
    match resource::read(answer, &wanted) {
        Ok(found) => {
            if let WantedResource::Id(id) = wanted {
                assert_eq!(found.id, id, "the resource is the one asked for");
            }
            true
        }
        Err(_) => false,
    }
}

/// A registrar's answer: its signing requests are bounded and each is answered by name; its reasons are single lines.
pub fn registrar_answer(data: &[u8]) -> bool {
    let did = Did::parse(CHEQD).expect("it is a DID");
    match RegistrarAnswer::parse(data, &did) {
        Ok(RegistrarAnswer::Sign { job, requests }) => {
            assert!((1..=32).contains(&requests.len()));
            let count = requests.len();
            let request = RegistrarRequest {
                operation: Operation::Deactivate,
                did: &did,
                document: None,
                options: Map::new(),
                job: Some(&job),
                signatures: requests.into_iter().map(|asked| (asked, vec![7])).collect(),
            };
            let given = &request.to_value()["secret"]["signingResponse"];
            assert_eq!(given.as_object().map(Map::len), Some(count));
            true
        }
        Ok(RegistrarAnswer::Failed { reason }) => {
            assert!(reason.len() <= 300 && !reason.contains(char::is_control));
            true
        }
        Ok(RegistrarAnswer::Finished | RegistrarAnswer::Wait { .. }) => true,
        Err(_) => false,
    }
}

/// Answers of a resolver.
pub(super) fn resolver_seeds() -> Vec<Vec<u8>> {
    let linked = json!({
        "resourceId": RESOURCE, "resourceName": "Demo", "resourceType": "String",
        "mediaType": "application/json", "nextVersionId": null,
        "checksum": "e1dbc03b50bdb995961dc8843df6539b79d03bf49787ed6462189ee97d27eaf3",
    });
    let result = json!({
        "didResolutionMetadata": {"contentType": "application/did", "retrieved": "2023-03-22T11:44:52Z"},
        "didDocument": {"@context": ["https://www.w3.org/ns/did/v1"], "id": CHEQD, "controller": [CHEQD]},
        "didDocumentMetadata": {
            "created": "2023-01-25T11:58:10Z", "versionId": "e5615fc2-6f13-42b1-989c-49576a574cef",
            "linkedResourceMetadata": [linked],
        },
    });
    let alone =
        json!({"dereferencingMetadata": {}, "contentStream": null, "contentMetadata": linked});
    let by_name = format!("{CHEQD}?resourceName=Demo&resourceType=String");
    [
        (CHEQD.to_owned(), &result),
        (by_name, &result),
        (format!("{CHEQD}/resources/{RESOURCE}"), &alone),
    ]
    .into_iter()
    .map(|(url, answer)| format!("{url}\0{answer}").into_bytes())
    .collect()
}

/// Answers of a registrar.
pub(super) fn registrar_seeds() -> Vec<Vec<u8>> {
    let request =
        json!({"kid": format!("{CHEQD}#key-1"), "alg": "EdDSA", "serializedPayload": "AQI="});
    [
        json!({"jobId": "1", "didState": {"did": CHEQD, "state": "finished", "secret": {}}}),
        json!({"jobId": "1", "didState": {"state": "wait", "waitTime": 3_600_000}}),
        json!({"jobId": "1", "didState": {"did": CHEQD, "state": "action", "action": "signPayload",
            "signingRequest": {"signingRequest0": request, "signingRequest1": request}}}),
        json!({"jobId": null, "didState": {"did": "", "state": "failed", "reason": "Invalid payload"}}),
    ]
    .iter()
    .map(|answer| answer.to_string().into_bytes())
    .collect()
}
