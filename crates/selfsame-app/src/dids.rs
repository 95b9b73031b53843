//! tmp
use crate::error::Result;
use crate::identity::Identity;
use crate::shared::Shared;
use std::sync::Arc;
pub struct Dids;
impl Dids {
    pub fn new(_: Arc<Shared>) -> Self {
        Self
    }
    pub async fn ensure_registered(&self, _: &Identity) -> Result<()> {
        Ok(())
    }
    pub async fn anchor_transaction(&self, _: &Identity, _: &str, _: [u8; 32]) -> Result<Vec<u8>> {
        Ok(vec![])
    }
}
impl Shared {
    pub async fn new_did(
        &self,
        _: crate::config::DidMethod,
        p: &selfsame_crypto::PublicKey,
        _: &str,
    ) -> Result<selfsame_did::Did> {
        Ok(selfsame_did::key::create(p))
    }
}
