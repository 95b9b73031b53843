//! Reads a fresh nonce (OpenID4VCI 1.0 §7).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::ctx::Ctx;
pub(super) use selfsame_openid4vc_messages::nonce::read;

use super::{HttpAnswer, Proving, RequestsProgress, WalletNext, proof};
use crate::error::Error;

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
