//! tmp
use super::*;
pub struct Remote;
impl Remote {
    pub fn new(_: selfsame_net::Net, _: url::Url, _: selfsame_crypto::SecretString) -> Self {
        Self
    }
}
#[async_trait]
impl Registry for Remote {
    async fn genesis(&self) -> Result<Vec<u8>> {
        loop {}
    }
    async fn submit(&self, _: &Transaction) -> Result<Receipt> {
        loop {}
    }
    async fn submit_bytes(&self, _: &str) -> Result<Receipt> {
        loop {}
    }
    async fn resolve(&self, _: &Did, _: &Options) -> Resolution {
        loop {}
    }
    async fn next_nonce(&self, _: &Did) -> Result<u64> {
        loop {}
    }
    async fn status(&self) -> Result<RegistryStatus> {
        loop {}
    }
    async fn entries(&self, _: u64, _: usize) -> Result<Vec<RegistryEntry>> {
        loop {}
    }
}
