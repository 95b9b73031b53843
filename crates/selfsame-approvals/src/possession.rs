//! Access tokens of an issuer that are bound to a key of the wallet (RFC 9449). A token that is not lives five minutes
//! (OpenID4VCI 1.0 §13.10), which is little for a person who decides.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_oauth::dpop::{self, DpopRequest, ProvenKey};
use selfsame_oauth::{Code, Error as OAuthError, TokenResponse};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use url::Url;

/// The kind of the records of access tokens.
pub const GRANT: &str = "grant";
/// The kind of the records of what is accepted once: nonces, and identifiers of proofs.
pub const NONCE: &str = "nonce";
/// Seconds for which a bound token lives whose credential needs an approval: wallets wait as long.
const WAITING_SECONDS: u64 = 30 * 24 * 3600;
/// How old a proof may be, and how far its clock may differ, in seconds.
const PROOF_AGE: u64 = 300;
const METHOD: &str = "POST";

/// An access token of an issuer as a wallet presents it.
#[derive(Clone, Copy)]
pub struct PresentedOwn<'t> {
    /// The address of the resource, as it is published.
    pub url: &'t Url,
    /// The token.
    pub token: &'t str,
    /// Whether it came with the scheme `DPoP`.
    pub is_dpop: bool,
    /// The header `DPoP`.
    pub proof: Option<&'t str>,
}

/// An access token of an issuer, and the key that was proven with it.
pub struct OwnToken<'t> {
    token: &'t str,
    /// The thumbprint of the key.
    key: Option<String>,
}

impl<'t> From<&'t str> for OwnToken<'t> {
    /// A token that came without a proof.
    fn from(token: &'t str) -> Self {
        Self { token, key: None }
    }
}

impl OwnToken<'_> {
    /// The id of the record of its grant: its hash.
    #[must_use]
    pub fn grant_id(&self) -> String {
        base64url_encode(&sha256(self.token.as_bytes()))
    }

    /// The thumbprint of the key that was proven with it.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

/// Checks the proofs that come with the access tokens of an issuer.
#[derive(Clone, Copy)]
pub struct Possession<'a> {
    /// The records.
    pub store: &'a Store,
    /// The time.
    pub clock: &'a Clock,
    /// The tenant of the issuer.
    pub tenant: &'a TenantId,
}

impl Possession<'_> {
    /// The key that the proof of a token request proves.
    ///
    /// # Errors
    /// `invalid_dpop_proof` (RFC 9449 §5).
    pub fn at_token(&self, proof: &str, url: &Url) -> Result<ProvenKey> {
        self.checked(proof, url, None)
    }

    /// An access token with the proof that its key is there. Whether it is bound to that key is for its grant to say.
    ///
    /// # Errors
    /// `invalid_dpop_proof` (RFC 9449 §7.1); `invalid_token` for one that nobody was given.
    pub async fn at_resource<'t>(&self, presented: PresentedOwn<'t>) -> Result<OwnToken<'t>> {
        let token = presented.token;
        if !presented.is_dpop {
            return Ok(OwnToken::from(token));
        }
        let missing = || at_resource(invalid("the access token needs a DPoP proof"));
        let proof = presented.proof.ok_or_else(missing)?;
        let checked = self.checked(proof, presented.url, Some(token));
        let proven = checked.map_err(at_resource)?;
        let grant = OwnToken::from(token).grant_id();
        // Anybody can prove a key of their own. Nothing is written for a stranger.
        let known = self.store.version(self.tenant, GRANT, &grant).await?;
        known.ok_or_else(invalid_token)?;
        let batch = spend(Batch::new(self.tenant.clone()), &proven);
        match self.store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => return Err(at_resource(replayed())),
            Err(other) => return Err(other.into()),
        }
        let key = Some(proven.thumbprint);
        Ok(OwnToken { token, key })
    }

    fn checked(&self, proof: &str, url: &Url, token: Option<&str>) -> Result<ProvenKey> {
        let request = DpopRequest {
            method: METHOD,
            url,
            access_token: token,
            now: self.clock.now(),
            age: PROOF_AGE,
        };
        dpop::check(proof, &request, None).map_err(refused)
    }
}

/// Says in a token response that the token is bound to a key. Returns when it ends, if it ends later for that: its
/// credential needs an approval.
pub fn bind(response: &mut TokenResponse, waits: bool, now: UnixTime) -> Option<UnixTime> {
    "DPoP".clone_into(&mut response.token_type);
    waits.then(|| {
        response.expires_in = Some(WAITING_SECONDS);
        now.plus(WAITING_SECONDS)
    })
}

/// That the identifier of a proof was used, in a batch. If it was used before, the commit is a conflict about [`NONCE`].
#[must_use]
pub fn spend(batch: Batch, key: &ProvenKey) -> Batch {
    let put = Put::new(NONCE, &key.spent.id, Vec::new()).expires(key.spent.expires);
    batch.expect(NONCE, &key.spent.id, Expect::Absent).put(put)
}

/// The refusal of an access token that nobody was given, that has ended, or that is bound to another key.
#[must_use]
pub fn invalid_token() -> Error {
    let code = Code::InvalidToken.as_str();
    Error::new(ErrorKind::Unauthenticated, "access-token-unknown").with_code(code)
}

/// The refusal of a proof that was used before.
#[must_use]
pub fn replayed() -> Error {
    invalid("the DPoP proof was used before")
}

fn invalid(reason: &'static str) -> Error {
    refused(OAuthError::new(Code::InvalidDpopProof, reason))
}

fn refused(error: OAuthError) -> Error {
    let (code, reason) = (error.code.as_str(), Reason::rule_broken(error.reason, None));
    tracing::info!(code, %reason, "refused");
    Error::of(ErrorKind::BadRequest, reason).with_code(code)
}

/// RFC 9449 §7.1: at a resource a proof that does not hold is a lack of authentication.
fn at_resource(error: Error) -> Error {
    Error {
        kind: ErrorKind::Unauthenticated,
        ..error
    }
}
