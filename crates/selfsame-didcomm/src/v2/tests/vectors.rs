//! The examples of DIDComm v2.1, appendices A to C.

use super::*;

struct Examples {
    file: Value,
    documents: Documents,
    ring: BTreeMap<String, AgreementPrivate>,
}

fn examples() -> Examples {
    let file = include_str!("../../../../../vectors/didcomm/v2.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let documents = file["documents"].as_array().unwrap().iter().map(|value| {
        let mut value = value.clone();
        // One of them names a context that does not exist.
        value.as_object_mut().unwrap().remove("@context");
        let document = Document::from_value(value).unwrap();
        (document.id.clone(), document)
    });
    let documents: Documents = documents.collect();
    let bob = &documents[&Did::parse("did:example:bob").unwrap()];
    // Bob's secrets have no identifier; his document says whose they are.
    let ring = file["secrets"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|jwk| {
            let crv = jwk["crv"].as_str()?;
            let curve = AgreementCurve::ALL
                .into_iter()
                .find(|one| one.as_str() == crv)?;
            let d = base64url_decode(jwk["d"].as_str()?).ok()?;
            let key = AgreementPrivate::from_raw(curve, &d).unwrap();
            let (kid, _) = bob
                .agreement_keys()
                .find(|(_, public)| public == key.public())?;
            Some((kid.to_string(), key))
        });
    let ring: BTreeMap<_, _> = ring.collect();
    assert_eq!(ring.len(), 9);
    Examples {
        ring,
        documents,
        file,
    }
}

fn plaintext(examples: &Examples) -> Message {
    let mut message = examples.file["plaintext"].clone();
    // Within the envelopes the protocol's address begins with http.
    message["type"] = json!("http://example.com/protocols/lets_do_lunch/1.0/proposal");
    Message::read(message.to_string().as_bytes(), Version::V2).unwrap()
}

#[test]
fn the_signed_examples_are_verified() {
    let examples = examples();
    let signed = examples.file["signed"].as_array().unwrap();
    assert_eq!(signed.len(), 3);
    for (at, envelope) in (1..).zip(signed) {
        let text = envelope.to_string();
        let opened = open(text.as_bytes(), &examples.ring, &examples.documents).unwrap();
        assert_eq!(opened.message, plaintext(&examples));
        assert_eq!(
            opened.signer,
            Some(url(&format!("did:example:alice#key-{at}")))
        );
        assert_eq!(opened.sender, None);
        let mut forged = envelope.clone();
        forged["signatures"][0]["header"]["kid"] =
            json!(format!("did:example:alice#key-{}", at % 3 + 1));
        assert!(
            open(
                forged.to_string().as_bytes(),
                &examples.ring,
                &examples.documents
            )
            .is_err()
        );
    }
}

#[test]
fn the_encrypted_examples_are_opened() {
    let examples = examples();
    let encrypted = examples.file["encrypted"].as_array().unwrap();
    assert_eq!(encrypted.len(), 6);
    for example in encrypted {
        let text = example["jwe"].to_string();
        let opened = open(text.as_bytes(), &examples.ring, &examples.documents).unwrap();
        assert_eq!(opened.message, plaintext(&examples));
        let layers = example["layers"].as_array().unwrap();
        assert_eq!(
            opened.sender.is_some(),
            layers.contains(&json!("authenticated"))
        );
        assert_eq!(opened.signer.is_some(), layers.contains(&json!("signed")));
        assert!(opened.recipient.is_some());
    }
}

#[test]
fn each_recipient_of_the_encrypted_examples_can_open_them() {
    let examples = examples();
    for example in examples.file["encrypted"].as_array().unwrap() {
        let text = example["jwe"].to_string();
        let kids = kids(text.as_bytes()).unwrap();
        assert!(kids.len() >= 2);
        for kid in kids {
            let mut ring = examples.ring.clone_ring();
            ring.retain(|held, _| *held == kid || !kids_of(&example["jwe"]).contains(held));
            let opened = open(text.as_bytes(), &ring, &examples.documents).unwrap();
            assert_eq!(opened.message, plaintext(&examples));
        }
    }
}

fn kids_of(jwe: &Value) -> Vec<String> {
    kids(jwe.to_string().as_bytes()).unwrap()
}

/// Private keys are not cloned elsewhere.
trait Again {
    fn clone_ring(&self) -> Self;
}

impl Again for BTreeMap<String, AgreementPrivate> {
    fn clone_ring(&self) -> Self {
        let pairs = self.iter().map(|(kid, key)| {
            let raw = key.to_raw().unwrap();
            (
                kid.clone(),
                AgreementPrivate::from_raw(key.public().curve(), raw.expose()).unwrap(),
            )
        });
        pairs.collect()
    }
}
