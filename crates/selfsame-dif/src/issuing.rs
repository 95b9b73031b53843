//! The issuer's side: an offer of a type of its organisation, redeemed when the request comes. The issuer of OpenID4VCI
//! checks the claims, binds, signs and registers the credential.

use selfsame_driver::paging::Paging;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::{IssuedBeside, MadeAttachment};
use selfsame_oauth::TokenRequest;
use selfsame_openid::view::issuer::NewOffer;
use selfsame_openid4vc::wire::credential::{CredentialRequest, WantedCredential};
use selfsame_openid4vc::wire::offer::CredentialOffer;
use selfsame_store::{Batch, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::DifFormat;
use crate::error::{malformed, read};
use crate::manifest::{
    CredentialManifest, ManifestRequest, ManifestTerms, OfferedManifest, WantedType,
};

/// Seconds for which an offer can be redeemed. Its challenge ends earlier, as nonces of OpenID4VCI do.
const OFFERED_SECONDS: u64 = 3_600;

/// What the issuer remembers of an offer.
#[derive(Deserialize, Serialize)]
struct OfferSecret {
    /// The offer of OpenID4VCI.
    offer: String,
    /// The format.
    format: String,
}

impl DifFormat {
    /// The offer of a credential of a type.
    pub(crate) async fn offered(&self, tenant: &TenantId, terms: &Value) -> Result<MadeAttachment> {
        let terms: ManifestTerms = read(&encode(terms)?)?;
        let roles = self.roles(tenant).await?;
        let issuer = roles.issuer()?;
        let new = NewOffer {
            type_id: terms.credential.schema.clone(),
            format: terms.format,
            claims: terms.claims,
            examples: terms.examples,
            uses: None,
            tx_code: false,
            by_reference: false,
            by_sign_in: false,
            // Who issues over a connection has decided.
            needs_approval: Some(false),
            expires_in: Some(OFFERED_SECONDS),
            label: None,
        };
        let offer = issuer.create_offer(&new).await?;
        let attachment = OfferedManifest {
            challenge: issuer.nonce().c_nonce,
            domain: issuer.identifier(),
            credential_manifest: CredentialManifest {
                issuer: issuer.identity().did().to_string(),
                credential: WantedType {
                    schema: offer.type_id,
                    name: terms.credential.name,
                },
                format: offer.format.clone(),
            },
        };
        let secret = OfferSecret {
            offer: offer.id,
            format: offer.format,
        };
        Ok(MadeAttachment {
            bytes: encode(&attachment)?,
            secret: serde_json::to_string(&secret).map_err(Error::internal)?,
        })
    }

    /// The credential for the key that the request proves.
    pub(crate) async fn issued(
        &self,
        tenant: &TenantId,
        request: &[u8],
        secret: &str,
    ) -> Result<IssuedBeside> {
        let request: ManifestRequest = read(request)?;
        let OfferSecret { offer, format } = decode(secret.as_bytes())?;
        let roles = self.roles(tenant).await?;
        let issuer = roles.issuer()?;
        let open = issuer.offer_object(&offer).await?;
        let open = CredentialOffer::parse(open.as_bytes()).map_err(Error::internal)?;
        let code = open.pre_authorized_code().map(|one| one.code.clone());
        let wanted = open.credential_configuration_ids.into_iter().next();
        let (Some(code), Some(wanted)) = (code, wanted) else {
            return Err(Error::internal("an offer has a code and a credential"));
        };
        let token = TokenRequest {
            pre_authorized_code: code,
            tx_code: None,
            client_id: None,
            authorization_details: None,
        };
        let token = issuer.token(token.to_form().expose().as_bytes()).await?;
        let asked = CredentialRequest {
            wanted: WantedCredential::CredentialConfigurationId(wanted),
            proofs: Some(vec![request.proof.jwt]),
            attestation: None,
            response_encryption: None,
        };
        let token = token.access_token.expose();
        let issued = issuer.credential_here(token, &asked).await?;
        let credential = issued.credentials.into_iter().next();
        let credential = credential.ok_or_else(|| malformed(&"no credential was issued"))?;
        let listed = issuer.issued(Some(&offer), &Paging::default()).await?;
        let known = listed.items.into_iter().next();
        let known = known.ok_or_else(|| Error::internal("an issued credential is registered"))?;
        Ok(IssuedBeside {
            bytes: credential.credential.into_bytes(),
            format,
            id: Some(known.id),
            cred_def_id: String::new(),
            rev_reg_id: None,
            cred_rev_id: None,
            writes: Batch::new(tenant.clone()),
        })
    }
}
