//! Codes that are shown on the screen of the browser that asks for one, for trying out. They protect nothing.

use async_trait::async_trait;
use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, Result};
use selfsame_sign_in::identity::OtpChannel;
use selfsame_store::{Batch, Put, Store, TenantId};

use super::{OtpCarrier, OtpMessage, Undelivered};

const SHOWN: &str = "otp_shown";

/// Keeps codes for the page that asked for them.
pub struct OnScreen {
    /// Where they are kept.
    pub store: Store,
    /// When they end.
    pub clock: Clock,
    /// The kind of addresses that it stands for.
    pub channel: OtpChannel,
}

#[async_trait]
impl OtpCarrier for OnScreen {
    fn channel(&self) -> OtpChannel {
        self.channel
    }

    async fn deliver(&self, message: &OtpMessage<'_>) -> std::result::Result<(), Undelivered> {
        let value = message.code.expose().as_bytes().to_vec();
        let put = Put::new(SHOWN, id(message.sign_in), value);
        let put = put.expires(self.clock.now().plus(message.lifetime));
        let batch = Batch::new(TenantId::instance()).put(put);
        let stored = self.store.commit(batch).await;
        stored.map(drop).map_err(|error| {
            tracing::warn!(%error, "a one-time password can't be kept for the screen");
            Undelivered::Away
        })
    }

    async fn is_there(&self) -> bool {
        true
    }

    async fn shown(&self, sign_in: &str) -> Result<Option<SecretString>> {
        let (instance, id) = (TenantId::instance(), id(sign_in));
        let read = self.store.read(&instance, SHOWN, &id).await?;
        let code = read.map(|record| String::from_utf8(record.value));
        let code = code.transpose().map_err(Error::damaged)?;
        Ok(code.map(SecretString::new))
    }
}

fn id(sign_in: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"shown\0", sign_in.as_bytes()]))
}
