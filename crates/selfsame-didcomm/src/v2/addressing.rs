//! Who takes part in an envelope, and whether its layers agree on it (DIDComm v2.1, "Message Layer Addressing
//! Consistency", "ECDH-1PU key wrapping and common protected headers").

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::jwe::{Jwe, JweError, KeyManagement};
use selfsame_did::DidUrl;

use crate::error::{Error, Inconsistency};
use crate::message::Message;

/// What the layers say of the parties.
#[derive(Clone, Debug, Default)]
pub(super) struct Parties {
    /// The sender's key of an encrypted layer.
    pub(super) sender: Option<DidUrl>,
    /// The key that signed.
    pub(super) signer: Option<DidUrl>,
    /// The recipient's keys that decrypted, from the outside in.
    pub(super) recipients: Vec<DidUrl>,
}

/// `apv`: the hash of the recipients' keys, sorted and joined by dots.
pub(super) fn apv<'a>(kids: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut kids: Vec<&str> = kids.collect();
    kids.sort_unstable();
    sha256(kids.join(".").as_bytes()).to_vec()
}

/// Bytes as a member of the header.
pub(super) fn member(bytes: &[u8]) -> serde_json::Value {
    serde_json::Value::String(base64url_encode(bytes))
}

/// The sender's key of an authenticated envelope; `None` if the sender is anonymous.
///
/// # Errors
/// If DIDComm does not define the algorithm, or `apv`, `apu` and `skid` do not agree.
pub(super) fn sender(jwe: &Jwe) -> Result<Option<DidUrl>, Error> {
    let header = &jwe.header;
    if header.apv != apv(jwe.kids()) {
        return Err(Inconsistency::Apv.into());
    }
    match header.alg {
        KeyManagement::EcdhEsA256Kw if header.skid.is_none() && header.apu.is_empty() => Ok(None),
        KeyManagement::EcdhEsA256Kw => Err(Inconsistency::Apu.into()),
        KeyManagement::Ecdh1PuA256Kw => {
            // The draft does not require `skid`; then `apu` says the same.
            let apu = std::str::from_utf8(&header.apu).map_err(|_| Inconsistency::Apu)?;
            match &header.skid {
                Some(skid) if skid != apu => Err(Inconsistency::Apu.into()),
                _ => key(apu, "identifier of the sender's key").map(Some),
            }
        }
        KeyManagement::EcdhEs | KeyManagement::EcdhEsA128Kw | KeyManagement::Ecdh1PuA128Kw => {
            Err(JweError::Unsupported("alg").into())
        }
    }
}

/// The DID URL of a key.
pub(super) fn key(text: &str, what: &'static str) -> Result<DidUrl, Error> {
    match DidUrl::parse(text) {
        Ok(url) if url.fragment.is_some() => Ok(url),
        _ => Err(Error::Malformed(what)),
    }
}

/// Whether the plaintext names the same parties as the layers around it.
///
/// # Errors
/// If it does not.
pub(super) fn check(message: &Message, parties: &Parties) -> Result<(), Error> {
    let from = message.from.as_ref().map(|from| &from.did);
    for (key, wrong) in [
        (&parties.sender, Inconsistency::Sender),
        (&parties.signer, Inconsistency::Signer),
    ] {
        if key.as_ref().is_some_and(|key| from != Some(&key.did)) {
            return Err(wrong.into());
        }
    }
    let is_named = |recipient: &DidUrl| message.to.iter().any(|to| to.did == recipient.did);
    let is_encrypted = !parties.recipients.is_empty();
    let must_name = parties.signer.is_some() && is_encrypted;
    let names = !message.to.is_empty();
    if (names || must_name) && !parties.recipients.iter().all(is_named) {
        return Err(Inconsistency::Recipient.into());
    }
    Ok(())
}
