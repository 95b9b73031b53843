//! Compact credentials, whose form is that of selfsame-credential: the issuer is found by a short key identifier.

use selfsame_credential::format::cwt::{CoseMessage, CoseStatus, short_key_id};
use selfsame_credential::status::Reference;
use selfsame_credential::validity::Validity;
use selfsame_crypto::PublicKey;

use super::credential::{Credential, MALFORMED, UNSIGNED, UNTRUSTED};
use super::policy::{IdentityPolicy, TrustedIssuer};
use crate::alert::Refusal;
use crate::codec::Vc;
use crate::named::VcFormat;

impl Vc {
    /// A compact credential ([`CoseDraft::finish`](super::CoseDraft::finish)).
    #[must_use]
    pub const fn compact(bytes: Vec<u8>) -> Self {
        Self {
            format: VcFormat::COSE,
            bytes,
        }
    }
}

/// Parses a credential, and verifies that a trusted issuer's key signed it.
pub(super) fn accept(vc: Vc, policy: &IdentityPolicy) -> Result<Credential, Refusal> {
    let message = CoseMessage::parse(&vc.bytes).map_err(|_| MALFORMED)?;
    let (issuer, key_id, key) = signer(policy, &message)?;
    if !message.is_signed_by(key) {
        return Err(UNSIGNED);
    }
    let content = message.content;
    Ok(Credential {
        issuer: issuer.did.clone(),
        key_id: key_id.to_owned(),
        subject: content.subject_did(),
        validity: Validity {
            not_before: content.not_before,
            expires: Some(content.expires),
        },
        types: content.all_types().into_iter().map(str::to_owned).collect(),
        claims: content.claims,
        statuses: match content.status {
            None => Vec::new(),
            Some(CoseStatus::List { index, uri }) => vec![Reference::token(uri, index)],
            Some(CoseStatus::Index(index)) => {
                let list = issuer.status_list.clone().ok_or(UNTRUSTED)?;
                vec![Reference::token(list, index)]
            }
        },
        vc,
    })
}

/// The one key with this identifier among the policy's issuers; if two keys match, the signer would be ambiguous.
fn signer<'a>(
    policy: &'a IdentityPolicy,
    message: &CoseMessage,
) -> Result<(&'a TrustedIssuer, &'a str, &'a PublicKey), Refusal> {
    let issuers = policy.issuers.iter();
    let keys = issuers.flat_map(|issuer| issuer.keys.iter().map(move |key| (issuer, key)));
    let mut named = keys.filter(|(_, (_, key))| short_key_id(key) == message.key_id);
    match (named.next(), named.next()) {
        (Some((issuer, (key_id, key))), None) => Ok((issuer, key_id, key)),
        _ => Err(UNTRUSTED),
    }
}

#[cfg(test)]
mod tests;
