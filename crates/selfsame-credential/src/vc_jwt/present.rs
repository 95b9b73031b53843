//! Presenting a W3C credential: a presentation as a JWT, signed by the holder.

use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value, json};

use super::{IssueError, Model};
use crate::{
    format::Format,
    signer::{Signer, Unsigned},
};

/// What is to be presented, and to whom.
#[derive(Clone, Debug)]
pub struct Present {
    /// The credential's format.
    pub format: Format,
    /// The credential, as its issuer made it.
    pub credential: String,
    /// The holder's DID.
    pub holder: Option<String>,
    /// The verifier: its client identifier with the prefix.
    pub audience: String,
    /// The verifier's nonce.
    pub nonce: String,
    /// Now.
    pub issued_at: UnixTime,
    /// For how many seconds the presentation may be accepted.
    pub lifetime: u64,
    /// The holder's key.
    pub signer: Signer,
}

impl Present {
    /// The presentation, lacking nothing but the holder's signature.
    pub fn draft(&self) -> Result<Unsigned, IssueError> {
        let model = Model::of(self.format).ok_or(IssueError::Format)?;
        let mut payload = match model {
            Model::V1 => self.of_v1(),
            Model::V2 => self.of_v2(),
        };
        let mut set = |name: &str, value: Value| payload.insert(name.to_owned(), value);
        set("aud", Value::from(self.audience.as_str()));
        set("nonce", Value::from(self.nonce.as_str()));
        set("iat", Value::from(self.issued_at.0));
        set("exp", Value::from(self.issued_at.plus(self.lifetime).0));
        if let Some(holder) = &self.holder {
            set("iss", Value::from(holder.as_str()));
        }
        let typ = match model {
            Model::V1 => "JWT",
            Model::V2 => "vp+jwt",
        };
        Ok(Unsigned::new(&self.signer, typ, &Value::Object(payload)))
    }

    /// VCDM 1.1 §6.3.1: the presentation stands in `vp`.
    fn of_v1(&self) -> Map<String, Value> {
        let mut vp = self.presentation(Model::V1);
        vp.insert("verifiableCredential".to_owned(), json!([self.credential]));
        Map::from_iter([("vp".to_owned(), Value::Object(vp))])
    }

    /// VC-JOSE-COSE §3.1.2: the payload is the presentation; the credential is enveloped (VCDM 2.0 §4.13).
    fn of_v2(&self) -> Map<String, Value> {
        let mut vp = self.presentation(Model::V2);
        let enveloped = json!({
            "@context": [Model::V2.base_context()],
            "type": ["EnvelopedVerifiableCredential"],
            "id": format!("{}{}", super::presentation::ENVELOPE, self.credential),
        });
        vp.insert("verifiableCredential".to_owned(), json!([enveloped]));
        vp
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
