//! Reads a fresh nonce (OpenID4VCI 1.0 §7).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::{ctx::Ctx, json};

use super::{HttpAnswer, Proving, RequestsProgress, WalletNext, proof};
use crate::{
    error::Error,
    wire::{limits, nonce::NonceResponse},
};

/// Maximum length of a nonce, in bytes.
const MAX_NONCE: usize = 4096;

pub(super) fn fetched(
    proving: &Proving,
    answer: HttpAnswer<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    proven(proving.progress.clone(), &read(answer)?, evidence, ctx)
}

/// Requests the next credential with this nonce.
pub(super) fn proven(
    mut progress: RequestsProgress,
    nonce: &str,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    progress.nonces = progress.nonces.saturating_add(1);
    proof::request(progress, Some(nonce), evidence, ctx)
}

/// Reads the nonce from the endpoint's answer.
pub(super) fn read(answer: HttpAnswer<'_>) -> Result<String, Error> {
    let bad = |reason| {
        Error::counterpart(
            reason,
            "Try again later, or ask the issuer for a new offer.",
        )
    };
    if !(200..300).contains(&answer.status) {
        return Err(bad("the issuer provides no nonce"));
    }
    let response: NonceResponse = json::parse_as(answer.body, &limits())
        .map_err(|_| bad("the issuer's nonce cannot be read"))?;
    if response.c_nonce.is_empty() || response.c_nonce.len() > MAX_NONCE {
        return Err(bad("the issuer's nonce is empty or too long"));
    }
    Ok(response.c_nonce)
}
