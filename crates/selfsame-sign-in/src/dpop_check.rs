//! What a client's call brings beside its form, and the proof that it has a key.

use selfsame_attester::AttestationHeaders;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_oauth::dpop::{self, DpopNonces, DpopRequest, ProvenKey};
use selfsame_oauth::{Code, Form};
use selfsame_oidc::ProviderRules;
use url::Url;

use crate::refusal::{refusal, refuse};
use crate::service::SignIns;

/// Seconds for which a nonce is accepted.
const NONCE_LIFETIME: u64 = 300;

/// A call of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct CalledEndpoint<'a> {
    /// The endpoint's address, as it is published.
    pub url: &'a Url,
    /// The method.
    pub method: &'a str,
    /// What follows `Basic` in the header `Authorization`.
    pub basic: Option<&'a str>,
    /// The header `DPoP`.
    pub proof: Option<&'a str>,
    /// The headers by which a wallet is attested.
    pub attestation: Option<AttestationHeaders<'a>>,
    /// The body: a form.
    pub body: &'a [u8],
}

impl CalledEndpoint<'_> {
    /// The parameters of the body.
    ///
    /// # Errors
    /// `invalid_request`.
    pub(crate) fn form(&self) -> Result<Form> {
        let form = Form::parse(self.body);
        let reason = "the form is malformed or repeats a parameter";
        form.map_err(|_| refuse(Code::InvalidRequest, reason))
    }
}

/// The key that the proof of a call proves, if it has a proof.
///
/// # Errors
/// `invalid_dpop_proof` or `use_dpop_nonce`.
pub(crate) fn proven_key(
    called: &CalledEndpoint<'_>,
    rules: &ProviderRules,
    nonces: Option<&DpopNonces>,
    now: UnixTime,
) -> Result<Option<ProvenKey>> {
    let Some(proof) = called.proof else {
        return Ok(None);
    };
    let request = DpopRequest {
        method: called.method,
        url: called.url,
        access_token: None,
        now,
        age: rules.lifetimes.proof,
    };
    let checked = dpop::check(proof, &request, nonces);
    checked.map(Some).map_err(refusal)
}

impl SignIns {
    /// The nonces that proofs need by these rules.
    pub(crate) async fn nonces(&self, rules: &ProviderRules) -> Result<Option<DpopNonces>> {
        match rules.requires_dpop_nonce {
            true => self.all_nonces().await.map(Some),
            false => Ok(None),
        }
    }

    pub(crate) async fn all_nonces(&self) -> Result<DpopNonces> {
        Ok(DpopNonces {
            key: self.nonce_key().await?,
            lifetime: NONCE_LIFETIME,
        })
    }

    /// A nonce for a client's next proofs.
    ///
    /// # Errors
    /// The store's.
    pub async fn next_nonce(&self) -> Result<String> {
        let nonces = self.all_nonces().await?;
        Ok(nonces.make(&self.shared().clock.ctx()))
    }
}
