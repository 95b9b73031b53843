//! Presents a W3C credential: a presentation as a JWT, signed by the holder.

use selfsame_crypto::{encoding::base64url_encode, time::UnixTime};
use serde_json::{Map, Value, json};

use super::IssueError;
use crate::{
    format::Format,
    signer::{Signer, Unsigned},
    w3c::{Model, VpJwt},
};

/// The content of a presentation, and its verifier.
#[derive(Clone, Debug)]
pub struct Present {
    /// The credential's format.
    pub format: Format,
    /// The credential, as its issuer signed it.
    pub credential: String,
    /// The holder's DID.
    pub holder: Option<String>,
    /// The verifier: its client identifier with the prefix.
    pub audience: String,
    /// The verifier's nonce.
    pub nonce: String,
    /// The current time.
    pub issued_at: UnixTime,
    /// For how many seconds the presentation is valid.
    pub lifetime: u64,
    /// The holder's key.
    pub signer: Signer,
}

impl Present {
    /// The presentation, without the holder's signature.
    pub fn draft(&self) -> Result<Unsigned, IssueError> {
        let variant = self.format.entry().w3c.as_ref();
        let variant = variant.ok_or(IssueError::Format)?;
        let presentation = self.presentation(variant.model);
        let mut payload = (variant.presentation)(self, presentation);
        let mut set = |name: &str, value: Value| payload.insert(name.to_owned(), value);
        set("aud", Value::from(self.audience.as_str()));
        set("nonce", Value::from(self.nonce.as_str()));
        set("iat", Value::from(self.issued_at.0));
        set("exp", Value::from(self.issued_at.plus(self.lifetime).0));
        if let Some(holder) = &self.holder {
            set("iss", Value::from(holder.as_str()));
        }
        let typ = variant.model.presentation_typ();
        Ok(Unsigned::new(&self.signer, typ, &Value::Object(payload)))
    }

    fn presentation(&self, model: Model) -> Map<String, Value> {
        let mut vp = Map::new();
        vp.insert("@context".to_owned(), json!([model.base_context()]));
        vp.insert("type".to_owned(), json!(["VerifiablePresentation"]));
        if let Some(holder) = &self.holder {
            vp.insert("holder".to_owned(), Value::from(holder.as_str()));
        }
        vp
    }
}

/// The credential in a presentation.
pub(in crate::format) fn bare(raw: &str, model: Model) -> Option<String> {
    let presentation = VpJwt::parse(raw, model).ok()?;
    let jwt = presentation.credential().jwt();
    let input = std::str::from_utf8(jwt.signing_input()).ok()?;
    Some(format!("{input}.{}", base64url_encode(jwt.signature())))
}
