//! The holder's side: the proof of a new key for each credential, and the credentials that are kept.

use selfsame_aries::wire::fresh_id;
use selfsame_credential::{Format, Held};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::{KeyHandle, KeyType};
use selfsame_did::jwk;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::{CameBeside, KeptBeside, MadeAttachment};
use selfsame_openid4vc::wire::credential::PROOF_TYP;
use selfsame_store::{Batch, Put, Record, Tag, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::DifFormat;
use crate::error::{malformed, read};
use crate::manifest::{KeyProof, ManifestRequest, OfferedManifest};

/// The kind of the records of credentials.
pub(crate) const KIND: &str = "aries_dif_credential";

/// What the holder remembers of a request.
#[derive(Deserialize, Serialize)]
struct RequestSecret {
    key: KeyHandle,
    /// The format that was offered.
    format: String,
}

/// A credential as it is kept.
#[derive(Deserialize, Serialize)]
pub(crate) struct KeptCredential {
    pub format: String,
    pub raw: String,
    pub key: KeyHandle,
}

/// A credential that an agent holds, as controllers see it.
#[derive(Clone, Debug, Serialize)]
pub struct HeldCredential {
    /// Its identifier here.
    pub record_id: String,
    /// Its format.
    pub format: String,
    /// Its types.
    pub types: Vec<String>,
    /// Its issuer; absent if only a certificate names it.
    pub issuer_id: Option<String>,
    /// Its claims.
    pub cred_value: Value,
}

impl DifFormat {
    /// The request for what is offered, with a new key.
    pub(crate) async fn requested(
        &self,
        tenant: &TenantId,
        offer: &[u8],
    ) -> Result<MadeAttachment> {
        let offer: OfferedManifest = read(offer)?;
        let format = known(&offer.credential_manifest.format)?;
        let keys = &self.shared.keys;
        let batch = Batch::new(tenant.clone());
        let (key, handle, batch) = keys.create(tenant, KeyType::P256, batch)?;
        self.shared.store.commit(batch).await?;
        let public = key.public();
        let algorithm = public.key_type().default_algorithm();
        let mut header = json!({"typ": PROOF_TYP, "alg": algorithm.as_str()});
        match jwk::create(public)
            .kid()
            .filter(|_| format.describe().binds_to_did)
        {
            Some(kid) => header["kid"] = kid.into(),
            None => header["jwk"] = public.to_jwk().to_value(),
        }
        let now = self.shared.clock.now();
        let claims = json!({"aud": offer.domain, "iat": now.0, "nonce": offer.challenge});
        let unsigned = Unsigned::new(&header, &claims);
        let signature = keys.sign(tenant, &handle, unsigned.signing_input()).await?;
        let jwt = unsigned.finish(&signature);
        let secret = RequestSecret {
            key: handle,
            format: offer.credential_manifest.format,
        };
        let proof = KeyProof { jwt };
        Ok(MadeAttachment {
            bytes: encode(&ManifestRequest { proof })?,
            secret: serde_json::to_string(&secret).map_err(Error::internal)?,
        })
    }

    /// The writes that keep a credential. It is of the offered format and bound to the key of the request; its
    /// issuer's signature is for verifiers.
    pub(crate) async fn kept(
        &self,
        tenant: &TenantId,
        came: &CameBeside<'_>,
    ) -> Result<KeptBeside> {
        let secret: RequestSecret = decode(came.secret.as_bytes())?;
        let raw = std::str::from_utf8(came.bytes).map_err(|why| malformed(&why))?;
        if came.format != secret.format {
            return Err(malformed(&"the credential is of another format"));
        }
        let held = Held::parse(raw, known(came.format)?).map_err(|why| malformed(&why))?;
        let public = self.shared.keys.public(tenant, &secret.key).await?;
        let by_did = held.holder_did() == Some(jwk::create(&public).as_str());
        if !by_did && held.holder_key() != Some(public) {
            return Err(malformed(&"the credential is bound to another key"));
        }
        let ctx = self.shared.clock.ctx();
        let id = came.id.map(str::to_owned);
        let id = id.unwrap_or_else(|| fresh_id("dif credential", &ctx));
        let kept = KeptCredential {
            format: secret.format,
            raw: raw.to_owned(),
            key: secret.key,
        };
        let put = Put::new(KIND, &id, encode(&kept)?);
        let types = held.types().into_iter();
        let put = types.fold(put, |put, kind| put.tag(type_tag(kind)));
        Ok(KeptBeside {
            id,
            rev_reg_id: None,
            cred_rev_id: None,
            writes: Batch::new(tenant.clone()).put(put),
        })
    }

    /// The credentials that an agent holds, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn held(
        &self,
        tenant: &TenantId,
        paging: &Paging,
    ) -> Result<Listing<HeldCredential>> {
        let store = &self.shared.store;
        let records = store.list(tenant, KIND, &page(paging)).await?;
        listing(&records, paging, shown)
    }
}

impl KeptCredential {
    /// The credential, read.
    pub(crate) fn held(&self) -> Result<Held> {
        Held::parse(&self.raw, known(&self.format)?).map_err(Error::internal)
    }
}

fn shown(record: &Record) -> Result<HeldCredential> {
    let kept: KeptCredential = decode(&record.value)?;
    let held = kept.held()?;
    Ok(HeldCredential {
        record_id: record.id.clone(),
        types: held.types().into_iter().map(str::to_owned).collect(),
        issuer_id: held.issuer().map(str::to_owned),
        cred_value: held.claims().clone(),
        format: kept.format,
    })
}

/// Finds the credentials of a type.
pub(crate) fn type_tag(kind: &str) -> Tag {
    Tag::hashed("aries_dif_type", kind.to_owned())
}

/// The format with this name, if people hold credentials in it.
fn known(name: &str) -> Result<Format> {
    let format = Format::of_any_type().find(|format| format.as_str() == name);
    format.ok_or_else(|| malformed(&"the credential's format is unknown"))
}
