//! Bytes: documents, compact credentials, messages of COSE, other CBOR.

use selfsame_cbor::cose::{CoseKind, CoseReceived};
use selfsame_cbor::diagnostic::{LongBytes, diagnostic};
use selfsame_cbor::{Cbor, CborLimits};
use selfsame_credential::format::cwt::CoseMessage;
use selfsame_credential::format::{Format, Profile};
use selfsame_crypto::Algorithm;
use selfsame_crypto::encoding::hex_encode;
use selfsame_mdoc::json::to_json;
use serde_json::{Value, json};

use crate::certificate::certificate_of;
use crate::{MAX_BYTES, NotShown, ShownFile, mdoc};

const LIMITS: CborLimits = CborLimits {
    bytes: MAX_BYTES,
    depth: 32,
    items: 65_536,
};

/// What these bytes are.
pub fn show(bytes: &[u8]) -> Result<ShownFile, NotShown> {
    let item = Cbor::parse(bytes, &LIMITS).map_err(|_| NotShown::Unknown)?;
    let notation = Some(diagnostic(&item, &LIMITS, LongBytes::Begin));
    let shown = |format, title, content| {
        Ok(ShownFile {
            notation: notation.clone(),
            ..ShownFile::of(format, title, content)
        })
    };
    let mdoc = Format::of_profile(Profile::Mdoc).as_str();
    if item.named("issuerAuth").is_some() {
        return shown(mdoc, "ISO mdoc, as issued", mdoc::issued(bytes)?);
    }
    if item.named("documents").is_some() {
        let content = mdoc::presented(bytes)?;
        return shown(mdoc, "ISO mdoc, as presented", content);
    }
    if let Ok(message) = CoseMessage::parse(bytes) {
        let content = json!({
            "header": {
                "alg": message.algorithm.as_str(),
                "kid": hex_encode(&message.key_id),
            },
            "credential": message.content.to_json(),
        });
        let description = Format::of_profile(Profile::Compact).describe();
        return shown(description.name, description.title, content);
    }
    for (kind, format, title) in [
        (CoseKind::Sign1, "cose_sign1", "COSE_Sign1"),
        (CoseKind::Mac0, "cose_mac0", "COSE_Mac0"),
    ] {
        if let Ok(message) = CoseReceived::read(&item, kind) {
            return shown(format, title, cose(&message));
        }
    }
    shown("cbor", "CBOR", Value::Null)
}

fn cose(message: &CoseReceived<'_>) -> Value {
    let algorithm = Algorithm::from_cose(message.algorithm);
    let payload = message.payload.map(|payload| {
        let item = Cbor::parse(payload, &LIMITS);
        item.map_or_else(|_| hex_encode(payload).into(), |item| to_json(&item))
    });
    let chain = message
        .chain
        .iter()
        .map(|certificate| certificate_of(certificate));
    json!({
        "header": {
            "alg": algorithm.map_or_else(|| message.algorithm.into(), |known| Value::from(known.as_str())),
            "kid": message.key_id.map(hex_encode),
            "typ": message.typ,
            "x5chain": chain.collect::<Vec<_>>(),
        },
        "payload": payload,
    })
}
