//! Codes that a gateway of text messages delivers, called by a webhook.

use async_trait::async_trait;
use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_net::{Authorization, Body, Call, CallHeader, Method, Net, Request};
use selfsame_sign_in::identity::OtpChannel;
use serde::Serialize;
use url::Url;

use super::message;
use super::{OtpCarrier, OtpMessage, Undelivered};

/// A gateway that takes `{"to", "text"}` by `POST`, and answers with status 2xx once it has the message.
pub struct TextGateway {
    /// Our calls.
    pub net: Net,
    /// Its address.
    pub url: Url,
    /// The token that it knows us by.
    pub token: Option<SecretString>,
}

/// What the gateway gets.
#[derive(Serialize)]
struct TextMessage<'a> {
    to: &'a str,
    text: &'a str,
}

#[async_trait]
impl OtpCarrier for TextGateway {
    fn channel(&self) -> OtpChannel {
        OtpChannel::Phone
    }

    async fn deliver(&self, message: &OtpMessage<'_>) -> Result<(), Undelivered> {
        let text = message::body(message);
        let to = message.to.address;
        let body = serde_json::to_vec(&TextMessage { to, text: &text }).map_err(|error| {
            tracing::error!(%error, "a text message can't be encoded");
            Undelivered::Away
        })?;
        // The gateway recognises a message that it gets twice.
        let number = message.number.to_be_bytes();
        let key = hash::sha256_parts(&[b"text\0", message.sign_in.as_bytes(), &number]);
        let key = encoding::base64url_encode(&key);
        let headers = [CallHeader {
            name: "idempotency-key",
            value: &key,
        }];
        let answer = self.net.call(Call {
            method: Method::Post,
            url: &self.url,
            body: Body::Json(body),
            authorization: self.authorization(),
            request: Request {
                headers: &headers,
                ..Request::default()
            },
        });
        let answer = answer.await.map_err(|error| {
            tracing::warn!(%error, "the gateway of text messages does not answer");
            Undelivered::Away
        })?;
        match answer.status {
            200..300 => Ok(()),
            400 | 404 | 422 => Err(Undelivered::Refused),
            status => {
                tracing::warn!(status, "the gateway of text messages took no message");
                Err(Undelivered::Away)
            }
        }
    }

    async fn is_there(&self) -> bool {
        let asked = self.net.get(&self.url, &Request::default()).await;
        asked.is_ok_and(|answer| answer.status < 500)
    }
}

impl TextGateway {
    fn authorization(&self) -> Authorization {
        match &self.token {
            Some(token) => Authorization::Bearer(token.clone()),
            None => Authorization::None,
        }
    }
}
