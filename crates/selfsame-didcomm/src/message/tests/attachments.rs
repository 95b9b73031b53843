//! Tests of attachments and of signatures over them.

use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::json;

use super::*;

const KIND: &str = "https://didcomm.org/issue-credential/2.0/offer-credential";

fn one(value: Value) -> Result<Attachment, Error> {
    let message = v1(json!({ "@type": KIND, "@id": "a", "~attach": [value] }))?;
    Ok(message.attachments.into_iter().next().unwrap())
}

#[test]
fn attachments_stand_where_their_member_is() {
    let at =
        |id: &str| json!({ "@id": id, "mime-type": "application/json", "data": { "json": {} } });
    let value = json!({
        "@type": KIND, "@id": "a",
        "offers~attach": [at("one"), at("two")], "did_doc~attach": at("three"), "~attach": [at("four")]
    });
    let message = v1(value.clone()).unwrap();
    let ids = |member| {
        let found = message.attached(member);
        found.filter_map(|one| one.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids("offers"), ["one", "two"]);
    assert_eq!(ids("did_doc"), ["three"]);
    assert!(ids("requests").is_empty());
    assert_eq!(message.attachments.len(), 4);
    assert_eq!(Value::Object(message.to_members(Version::V1)), value);
}

#[test]
fn base64_is_read_in_all_four_forms() {
    for text in ["-_-_", "+/+/", "-_8=", "-_8", "+/8=", "+/8", "-w==", "-w"] {
        let attachment = one(json!({ "data": { "base64": text } })).unwrap();
        assert!(attachment.bytes(10).unwrap().starts_with(&[0xfb]), "{text}");
    }
    for text in ["-_9", "a", "a b", "é", "===="] {
        let attachment = one(json!({ "data": { "base64": text } })).unwrap();
        let is_empty = attachment.bytes(10).is_ok_and(|bytes| bytes.is_empty());
        assert!(attachment.bytes(10).is_err() || is_empty, "{text}");
    }
}

#[test]
fn bytes_are_written_in_the_alphabet_of_each_version() {
    let mut message = Message::new(MessageType::parse(KIND).unwrap(), "a");
    let bytes = [0xfb, 0xff];
    message.attachments.push(Attachment::of_bytes("a", &bytes));
    let written = |version| Value::Object(message.to_members(version));
    let v1 = written(Version::V1);
    assert_eq!(v1["~attach"][0]["data"]["base64"], "+/8=");
    let v2 = written(Version::V2);
    assert_eq!(v2["attachments"][0]["data"]["base64"], "-_8");
}

#[test]
fn content_beyond_the_limit_is_refused() {
    let attachment = Attachment::of_bytes("a", &[7; 100]);
    assert_eq!(attachment.bytes(100).unwrap(), [7; 100]);
    assert_eq!(attachment.bytes(99), Err(Error::TooLarge("attachment")));
    let limits = Limits {
        max_bytes: 10,
        ..LIMITS
    };
    let attachment = Attachment::of_json("a", json!({ "long": "xxxxxxxxxxx" }));
    assert_eq!(attachment.json(&limits), Err(Error::TooLarge("attachment")));
    let attachment = Attachment::of_bytes("a", b"{\"a\":1,\"a\":2}");
    assert!(matches!(attachment.json(&LIMITS), Err(Error::Json(_))));
}

#[test]
fn content_that_is_elsewhere_or_given_twice_is_not_read() {
    let attachment = one(json!({ "data": { "links": ["https://a.example/"], "sha256": "00" } }));
    assert_eq!(attachment.unwrap().bytes(10), Err(Error::Linked));
    for data in [
        json!({}),
        json!({ "links": [] }),
        json!({ "base64": "AA", "json": {} }),
        json!({ "base64": "AA", "links": ["https://a.example/"] }),
        json!({ "links": [1] }),
        json!({ "base64": 1 }),
    ] {
        assert!(one(json!({ "data": data })).is_err(), "{data}");
    }
    assert_eq!(one(json!({ "@id": "a" })), Err(Error::Missing("data")));
}

#[test]
fn a_signed_attachment_is_verified_with_the_key_that_signed_it() {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let mut attachment = Attachment::of_bytes("a", b"{\"id\":\"did:sov:x\"}").as_member("did_doc");
    let draft = DetachedSignature::draft(&attachment, &json!({ "alg": "EdDSA" })).unwrap();
    let signature = key.sign(draft.signing_input()).unwrap();
    let kid = Some("did:key:z6Mk".to_owned());
    attachment
        .signatures
        .push(DetachedSignature::of(draft, &signature, kid.clone()));
    let mut message = Message::new(MessageType::parse(KIND).unwrap(), "a");
    message.attachments.push(attachment);
    let read = Message::read(&message.write(Version::V1), Version::V1).unwrap();
    assert_eq!(read, message);
    let mut attachment = read.attachments[0].clone();
    let signature = attachment.signatures[0].clone();
    assert_eq!(signature.verify(&attachment, key.public()), Ok(()));
    assert_eq!(signature.key_id(&attachment).unwrap(), kid);
    let other = PrivateKey::generate(KeyType::Ed25519).unwrap();
    assert!(signature.verify(&attachment, other.public()).is_err());
    attachment.content = AttachmentContent::Base64("e30".to_owned());
    assert!(signature.verify(&attachment, key.public()).is_err());
    attachment.content = AttachmentContent::Json(json!({}));
    assert!(signature.verify(&attachment, key.public()).is_err());
}

#[test]
fn several_signatures_are_read_from_a_general_jws() {
    let one_of = |n: u8| json!({ "protected": "e30", "signature": format!("{n}"), "header": { "kid": "k" } });
    let jws = json!({ "signatures": [one_of(1), one_of(2)] });
    let attachment = one(json!({ "data": { "base64": "AA", "jws": jws } })).unwrap();
    assert_eq!(attachment.signatures.len(), 2);
    assert_eq!(attachment.write(Version::V1)["data"]["jws"], jws);
    let many: Vec<Value> = (0..9).map(one_of).collect();
    let many = json!({ "data": { "base64": "AA", "jws": { "signatures": many } } });
    assert_eq!(one(many), Err(Error::TooLarge("list of signatures")));
    for jws in [
        json!({}),
        json!("a.b.c"),
        json!({ "signatures": [1] }),
        json!({ "protected": "e30" }),
    ] {
        assert!(one(json!({ "data": { "base64": "AA", "jws": jws } })).is_err());
    }
}
