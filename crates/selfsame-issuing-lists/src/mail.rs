//! The mail with an offer, and the seam to what carries it.

use async_trait::async_trait;
use selfsame_net::mail::{MailError, MailMessage, MailServer};
use url::Url;

/// Carries mail.
#[async_trait]
pub trait ListMail: Send + Sync {
    /// Hands a message over. Returns when the carrier has it.
    ///
    /// # Errors
    /// If the carrier has not taken it.
    async fn send(&self, message: MailMessage<'_>) -> Result<(), MailError>;
}

#[async_trait]
impl ListMail for MailServer {
    async fn send(&self, message: MailMessage<'_>) -> Result<(), MailError> {
        Self::send(self, message).await
    }
}

/// What the mail with an offer says.
pub(crate) struct OfferLetter<'a> {
    pub issuer: &'a str,
    /// What is offered.
    pub title: &'a str,
    pub uri: &'a str,
    /// Until when, RFC 3339.
    pub expires: &'a str,
    pub has_code: bool,
    /// The wallet of this instance, if it has one.
    pub wallet: Option<&'a Url>,
}

impl OfferLetter<'_> {
    pub fn subject(&self) -> String {
        let subject = format!("{}: {}", self.issuer, self.title);
        // A header is one line.
        subject.replace(char::is_control, " ")
    }

    pub fn text(&self) -> String {
        let Self {
            issuer, title, uri, ..
        } = self;
        let day = self.expires.get(..10).unwrap_or(self.expires);
        let mut text = format!("{issuer} has a credential for you: {title}.\n\n");
        if let Some(link) = self.wallet.and_then(|wallet| link(wallet, uri)) {
            text.push_str(&format!(
                "To put it into your wallet here, open:\n{link}\n\n"
            ));
        }
        text.push_str(&format!(
            "To put it into another wallet, open this link on the device that has the wallet:\n{uri}\n\n"
        ));
        if self.has_code {
            text.push_str("Your wallet will ask for a code, which reaches you separately.\n\n");
        }
        text.push_str(&format!(
            "The link can be used once, until {day} (UTC). Do not pass it on: the wallet that opens it first gets the \
             credential.\nIf you did not expect this message, ignore it.\n"
        ));
        text
    }
}

/// The address at which the wallet here opens an offer.
fn link(wallet: &Url, uri: &str) -> Option<Url> {
    let mut link = wallet.join("wallet/offer").ok()?;
    link.query_pairs_mut().append_pair("uri", uri);
    Some(link)
}
