//! ISO mdocs, as issued and as presented.

use selfsame_crypto::Algorithm;
use selfsame_crypto::x509::Chain;
use selfsame_mdoc::MdocError;
use selfsame_mdoc::held::IssuerSigned;
use selfsame_mdoc::json::to_json;
use selfsame_mdoc::response::{DeviceProof, PresentedDocument};
use selfsame_mdoc::security::{MdocStatus, SecurityObject};
use serde_json::{Map, Value, json};

use crate::NotShown;
use crate::certificate::certificate_of;

/// What an issuer signed.
pub fn issued(bytes: &[u8]) -> Result<Value, NotShown> {
    let document = IssuerSigned::parse(bytes).map_err(|error| malformed(&error))?;
    content(&document)
}

/// What a device presents.
pub fn presented(bytes: &[u8]) -> Result<Value, NotShown> {
    let document = PresentedDocument::parse(bytes).map_err(|error| malformed(&error))?;
    let mut shown = content(&document.issuer_signed)?;
    let proof = match &document.proof {
        DeviceProof::Signature(_) => "a signature",
        DeviceProof::Mac(_) => "a tag by a key shared with the reader",
    };
    let stated = document.stated.iter();
    let stated: Vec<Value> = stated
        .map(|one| {
            json!({
                "namespace": one.namespace,
                "element": one.element,
                "value": to_json(&one.value),
            })
        })
        .collect();
    if let Some(members) = shown.as_object_mut() {
        members.insert("device_proof".to_owned(), proof.into());
        members.insert("stated_by_device".to_owned(), stated.into());
    }
    Ok(shown)
}

fn malformed(error: &MdocError) -> NotShown {
    NotShown::Malformed {
        title: "an ISO mdoc",
        reason: error.to_string(),
    }
}

fn content(document: &IssuerSigned<'_>) -> Result<Value, NotShown> {
    let security = document.security_object();
    let security = security.map_err(|error| malformed(&error))?;
    let namespaces = document.namespaces.iter().map(|namespace| {
        let items = namespace.items.iter();
        let items = items.map(|item| (item.element.to_owned(), to_json(&item.value)));
        (namespace.name.to_owned(), Value::Object(items.collect()))
    });
    let chain = document.issuer_auth.chain.iter();
    let chain: Vec<Value> = chain
        .map(|certificate| certificate_of(certificate))
        .collect();
    let validity = security.validity;
    Ok(json!({
        "doctype": security.doc_type,
        "elements": namespaces.collect::<Map<_, _>>(),
        "signed": validity.signed.rfc3339(),
        "valid_from": validity.valid_from.rfc3339(),
        "valid_until": validity.valid_until.rfc3339(),
        "expected_update": validity.expected_update.map(|time| time.rfc3339()),
        "status": status(&security.status),
        "digest_algorithm": security.digest_algorithm.as_str(),
        "device_key": security.device_key.to_jwk().to_value(),
        "signer": chain,
        "signed_by_that_certificate": is_signed(document),
        "elements_are_those_signed": has_its_digests(document, &security),
    }))
}

fn status(status: &MdocStatus) -> Value {
    match status {
        MdocStatus::None => Value::Null,
        MdocStatus::List { index, uri } => json!({"status_list": {"idx": index, "uri": uri}}),
        MdocStatus::Unknown => "of a kind that is not known here".into(),
    }
}

/// Whether the key of the certificate in the document signed it. Anyone can make such a certificate.
fn is_signed(document: &IssuerSigned<'_>) -> bool {
    let auth = &document.issuer_auth;
    let certificate = auth.chain.first().map(|certificate| certificate.to_vec());
    let chain = certificate.and_then(|certificate| Chain::parse(&[certificate]).ok());
    let algorithm = Algorithm::from_cose(auth.algorithm);
    let (Some(chain), Some(algorithm)) = (chain, algorithm) else {
        return false;
    };
    let signed = auth.secured(document.payload);
    let verified = chain
        .leaf_public_key()
        .verify(algorithm, &signed, auth.proof);
    verified.is_ok()
}

fn has_its_digests(document: &IssuerSigned<'_>, security: &SecurityObject<'_>) -> bool {
    document.namespaces.iter().all(|namespace| {
        let digests = security.namespace(namespace.name);
        namespace.items.iter().all(|item| {
            let stated = digests.and_then(|digests| digests.digest(item.digest_id));
            stated == Some(&security.digest_algorithm.digest(item.bytes)[..])
        })
    })
}
