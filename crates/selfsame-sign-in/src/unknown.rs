//! The answer about a one-time password for an unknown identifier. It is of the form that a person's has, and
//! always the same for one identifier, so that it says nothing about who is known.

use selfsame_crypto::hash::sha256;
use selfsame_driver::Result;

use crate::identity::{OtpChannel, OtpOrder, OtpSent};
use crate::service::SignIns;

const LETTERS: &[u8; 16] = b"aeiourstlnmdkhbg";
const DIGITS: &[u8; 16] = b"0123456789012345";

impl SignIns {
    pub(crate) async fn as_if_sent(&self, order: &OtpOrder) -> Result<OtpSent> {
        let identifier = sha256(order.identifier.expose().as_bytes());
        let drawn = self.nonce_key().await?.mac(&identifier);
        tracing::info!("a one-time password was asked for by an unknown identifier");
        let masked = |channel, mask: fn(&[u8]) -> String| {
            let is_asked = order.channels.contains(&channel);
            is_asked.then(|| mask(&drawn))
        };
        Ok(OtpSent {
            masked_email: masked(OtpChannel::Email, email),
            masked_phone: masked(OtpChannel::Phone, phone),
        })
    }
}

/// An e-mail address whose local part shows every third character.
fn email(drawn: &[u8]) -> String {
    let shown = characters(drawn, LETTERS);
    let groups = 1 + shown.len() / 3;
    let local: String = shown
        .chars()
        .take(groups)
        .map(|one| format!("XX{one}"))
        .collect();
    format!("{local}@gmail.com")
}

/// A telephone number whose second half is shown.
fn phone(drawn: &[u8]) -> String {
    format!("XXXXXX{}", characters(drawn, DIGITS))
}

/// Four characters.
fn characters(drawn: &[u8], of: &[u8; 16]) -> String {
    let character = |byte: &u8| of.get(usize::from(byte & 15)).copied();
    let all = drawn.iter().take(4).filter_map(character);
    all.map(char::from).collect()
}
