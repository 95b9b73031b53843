//! Codes that are sent by e-mail.

use async_trait::async_trait;
use selfsame_crypto::{encoding, hash};
use selfsame_net::mail::{MailError, MailMessage, MailServer};
use selfsame_sign_in::identity::OtpChannel;

use super::message::{body, subject};
use super::{OtpCarrier, OtpMessage, Undelivered};

/// Hands codes to a mail server.
pub struct MailCarrier {
    /// The mail server.
    pub server: MailServer,
}

#[async_trait]
impl OtpCarrier for MailCarrier {
    fn channel(&self) -> OtpChannel {
        OtpChannel::Email
    }

    async fn deliver(&self, message: &OtpMessage<'_>) -> Result<(), Undelivered> {
        let number = message.number.to_be_bytes();
        let id = hash::sha256_parts(&[b"mail\0", message.sign_in.as_bytes(), &number]);
        let mail = MailMessage {
            to: message.to.address,
            subject: subject(message),
            text: &body(message),
            id: &encoding::base64url_encode(&id),
        };
        self.server.send(mail).await.map_err(|error| {
            tracing::warn!(%error, "a one-time password was not sent by mail");
            match error {
                MailError::Refused => Undelivered::Refused,
                MailError::Away(_) => Undelivered::Away,
            }
        })
    }

    async fn is_there(&self) -> bool {
        self.server.is_there().await
    }
}
