//! Rules for DIDs and DID documents.

use std::str;

use selfsame_crypto::json::{self, Limits};
use selfsame_did::{Did, DidUrl, Document, Options, Plan, Relationship, Representation, plan, web};

/// A DID URL: read back to the same text; its DID can be planned for, and did:web stays at its address.
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
    match plan(&url.did, &Options::default()) {
        Ok(Plan::Done(resolution)) => {
            let document = resolution.document.expect("it is done");
            assert_eq!(document.id, url.did, "the document is the DID's own");
        }
        Ok(Plan::Fetch { url: address }) => {
            assert_eq!(address.scheme(), "https");
            assert!(address.username().is_empty() && address.password().is_none());
            assert!(address.query().is_none() && address.fragment().is_none());
            let _ = web::read(&url.did, data);
        }
        Ok(Plan::Registry { .. } | Plan::Cheqd(_) | Plan::Foreign(_)) | Err(_) => {}
    }
    true
}

/// A DID document: of the DID it was asked for, and read back from each representation as itself.
pub fn did_document(data: &[u8]) -> bool {
    let asked = json::parse(data, &Limits::default())
        .ok()
        .and_then(|value| Did::parse(value.get("id")?.as_str()?).ok());
    let Some(asked) = asked else {
        let nobody = Did::parse("did:example:nobody").expect("it is a DID");
        assert!(Document::parse(data, &nobody).is_err());
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
        // The contexts aside, of which plain JSON has none, nothing is lost.
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
