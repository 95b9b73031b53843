//! Which handles a presentation reveals.

use selfsame_anoncreds::format::{Presentation, PresentationRequest};
use selfsame_core::registry::UseKey;
use selfsame_credential::single_use::{HANDLE, digest};
use selfsame_crypto::encoding::{base64url_decode, hex_encode};
use selfsame_crypto::hash;
use selfsame_did::Did;
use selfsame_registry::single_use::Action;

/// A handle that a presentation reveals, before its issuer is known.
pub(crate) struct RevealedHandle {
    /// The credential definition.
    pub cred_def_id: String,
    handle: [u8; 32],
}

/// A handle that a presentation reveals. The credential definition is its type.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ShownHandle {
    pub issuer: Did,
    pub kind: String,
    pub handle: [u8; 32],
}

/// The handles that a presentation reveals. What is no handle is left out: no issuer of ours makes such.
pub(crate) fn shown(
    request: &PresentationRequest,
    presentation: &Presentation,
) -> Vec<RevealedHandle> {
    let proof = &presentation.requested_proof;
    let mut found = Vec::new();
    let mut add = |index: u32, raw: &str| {
        let identifiers = usize::try_from(index).ok();
        let identifiers = identifiers.and_then(|index| presentation.identifiers.get(index));
        let bytes = base64url_decode(raw).ok();
        let handle = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        if let (Some(of), Some(handle)) = (identifiers, handle) {
            found.push(RevealedHandle {
                cred_def_id: of.cred_def_id.to_string(),
                handle,
            });
        }
    };
    for (referent, asked) in &request.requested_attributes {
        if asked.name.as_deref() == Some(HANDLE)
            && let Some(answer) = proof.revealed_attrs.get(referent)
        {
            add(answer.sub_proof_index, &answer.raw);
        }
        if let Some(group) = proof.revealed_attr_groups.get(referent)
            && let Some(answer) = group.values.get(HANDLE)
        {
            add(group.sub_proof_index, &answer.raw);
        }
    }
    found
}

impl RevealedHandle {
    /// The handle of a credential of this issuer; `None` if the registry can't know the issuer.
    pub fn of(self, issuer: &str) -> Option<ShownHandle> {
        Some(ShownHandle {
            issuer: Did::parse(issuer)
                .ok()
                .filter(|did| did.origin().is_registry())?,
            kind: self.cred_def_id,
            handle: self.handle,
        })
    }
}

impl ShownHandle {
    /// What the registry knows it by.
    pub fn key(&self) -> UseKey {
        UseKey {
            issuer: self.issuer.clone(),
            digest: digest(&self.kind, &self.handle),
        }
    }

    /// The identifier of the record of this act.
    pub fn record_id(&self, action: Action) -> String {
        let issuer = self.issuer.as_str().as_bytes();
        let parts: [&[u8]; 4] = [action.name().as_bytes(), b"\0", issuer, &self.key().digest];
        hex_encode(&hash::sha256_parts(&parts))
    }
}
