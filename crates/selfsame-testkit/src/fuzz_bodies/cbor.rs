//! CBOR as others encode it, the messages of COSE, and documents of ISO/IEC 18013-5.

use selfsame_cbor::cose::{CoseKind, CosePublic, CoseReceived};
use selfsame_cbor::deterministic::encode;
use selfsame_cbor::diagnostic::{LongBytes, diagnostic};
use selfsame_cbor::{Cbor, CborLimits};
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_mdoc::held::IssuerSigned;
use selfsame_mdoc::transcript::SessionTranscript;
use selfsame_mdoc::verify::{KnownStatus, MdocCourt, MdocRequest, verify, verify_issued};
use serde_json::Value;

/// A licence, issued and presented.
const LICENCE: &str = include_str!("../../../../vectors/mdoc/licence.json");

/// An item: it reads back from its deterministic form, and people read it on lines without control characters.
pub fn cbor(data: &[u8]) -> bool {
    let limits = CborLimits::default();
    let Ok(item) = Cbor::parse(data, &limits) else {
        return false;
    };
    assert_eq!(item.raw(), data, "it is all of the input");
    let written = encode(|to| item.write(to));
    let again = Cbor::parse(&written, &limits).expect("what is written is read");
    assert_eq!(again, item, "it says the same");
    assert!(
        written.len() <= data.len(),
        "the shortest form is no longer"
    );
    let shown = diagnostic(&item, &limits, LongBytes::Begin);
    let is_plain = |one: char| one == '\n' || !one.is_control();
    assert!(!shown.is_empty() && shown.chars().all(is_plain), "{shown}");
    true
}

/// A message or a key of COSE: what is authenticated contains the payload, and is of one kind alone.
pub fn cose(data: &[u8]) -> bool {
    let Ok(item) = Cbor::parse(data, &CborLimits::default()) else {
        return false;
    };
    let read = |kind| CoseReceived::read(&item, kind);
    let (signed, tagged) = (read(CoseKind::Sign1), read(CoseKind::Mac0));
    if let (Ok(signed), Ok(tagged)) = (&signed, &tagged) {
        assert_ne!(signed.secured(b""), tagged.secured(b""), "of one kind");
    }
    for message in [&signed, &tagged].into_iter().flatten() {
        let payload = message.payload.unwrap_or(b"detached");
        assert!(message.secured(payload).ends_with(payload), "it is signed");
        assert!(message.chain.len() <= 8, "chains are bounded");
    }
    let key = CosePublic::read(&item).is_ok_and(|key| {
        let written = encode(|to| key.write(to));
        let again = Cbor::parse(&written, &CborLimits::default());
        let again = again.expect("a key that is written is read");
        assert_eq!(CosePublic::read(&again), Ok(key), "a key reads back");
        true
    });
    signed.is_ok() | tagged.is_ok() | key
}

/// A document or a response: there is always a verdict, and what is valid says what was signed.
pub fn mdoc(data: &[u8]) -> bool {
    let vector: Value = serde_json::from_str(LICENCE).expect("the vector is JSON");
    let transcript = SessionTranscript::from_cbor(&bytes(&vector, "transcript"));
    let transcript = transcript.expect("the transcript is one");
    let authorities = [bytes(&vector, "authority")];
    let now = UnixTime(vector["now"].as_u64().expect("a time"));
    let known = [KnownStatus {
        uri: vector["status"]["uri"].as_str().expect("a URI"),
        index: vector["status"]["index"].as_u64().expect("an index"),
        value: Ok(0),
        at: now,
    }];
    let court = MdocCourt {
        now,
        leeway: 0,
        authorities: &authorities,
        algorithms: None,
        statuses: &known,
        require_status: true,
    };
    let request = MdocRequest {
        transcript: &transcript,
        reader_key: None,
        doc_type: vector["doc_type"].as_str().expect("a type"),
        wanted: &[],
    };
    let original = bytes(&vector, "issued");
    let original = IssuerSigned::parse(&original).expect("the vector is a document");
    let judged = [verify_issued(data, &court), verify(data, &request, &court)];
    let mut is_read = false;
    for (verdict, document) in judged {
        is_read |= verdict
            .rules
            .iter()
            .any(|rule| rule.name == "readable" && rule.passed == Some(true));
        let namespaces = document.map(|document| document.namespaces);
        for namespace in namespaces.iter().flatten() {
            for item in &namespace.items {
                let signed = original.item(namespace.name, item.element);
                let signed = signed.expect("it was signed");
                assert_eq!(signed.bytes, item.bytes, "it is what was signed");
            }
        }
    }
    is_read
}

pub(super) fn cbor_seeds() -> Vec<Vec<u8>> {
    let items = [
        "83f6f682714f70656e494434565048616e646f766572581a00",
        "a2616101616282020343f97e00",
        "d903ec6a323031392d31302d3230",
        "fb3ff199999999999a",
        "c074323031332d30332d32315432303a30343a30305a",
    ];
    let items = items.into_iter().filter_map(|item| hex_decode(item).ok());
    let readable = items.filter(|item| cbor(item));
    readable.chain(mdoc_seeds()).collect()
}

pub(super) fn cose_seeds() -> Vec<Vec<u8>> {
    let issued = mdoc_seeds().swap_remove(0);
    let item = Cbor::parse(&issued, &CborLimits::default()).expect("it is CBOR");
    let auth = item
        .named("issuerAuth")
        .expect("it is signed")
        .raw()
        .to_vec();
    let mac = [
        &[0xd1, 0x84, 0x43, 0xa1, 0x01, 0x05, 0xa0, 0xf6, 0x58, 0x20][..],
        &[7; 32],
    ]
    .concat();
    let key = encode(|to| {
        to.map(4).int(1).int(2).int(-1).int(1);
        to.int(-2).bytes(&[1; 32]).int(-3).bytes(&[2; 32]);
    });
    vec![auth, mac, key]
}

pub(super) fn mdoc_seeds() -> Vec<Vec<u8>> {
    let vector: Value = serde_json::from_str(LICENCE).expect("the vector is JSON");
    let names = ["issued", "signed", "tagged"];
    names.map(|name| bytes(&vector, name)).to_vec()
}

fn bytes(vector: &Value, name: &str) -> Vec<u8> {
    let text = vector[name].as_str().expect("it is a text");
    hex_decode(text).expect("it is hexadecimal")
}
