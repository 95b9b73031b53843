//! Mail to people, handed to the operator's mail server (RFC 5321, RFC 6409).

use std::net::IpAddr;
use std::time::Duration;

use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Category, Severity};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use selfsame_crypto::SecretString;
use url::{Host, Url};

use crate::error::NetError;

/// How long each command of a conversation with the mail server takes at most.
const TIME_OUT: Duration = Duration::from_secs(5);
/// How long the whole conversation does.
const CONVERSATION: Duration = Duration::from_secs(10);

/// The mail server of the operator.
#[derive(Clone)]
pub struct MailServer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// How the mail server is reached.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// `smtps://host` for TLS from the first byte (port 465), `smtp://host` for STARTTLS, which is demanded (port 587).
    /// Without TLS only on loopback: `smtp://localhost:25`.
    pub url: Url,
    /// The user, if the server wants one.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<SecretString>,
    /// The sender of all mail, such as `City of Ghent <no-reply@ghent.example>`.
    pub from: String,
    /// A further certificate to trust, as PEM; beside those of the system.
    pub root: Option<String>,
}

/// A message of plain text.
#[derive(Clone, Copy, Debug)]
pub struct MailMessage<'a> {
    /// The recipient's address.
    pub to: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The text.
    pub text: &'a str,
    /// Identifies the message for good; ASCII letters, digits, `-` and `_`.
    pub id: &'a str,
}

/// Why the mail server has not taken a message.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MailError {
    /// The address is malformed, or the server refuses it for good.
    #[error("the address is refused")]
    Refused,
    /// The server does not answer, or can't take the message now.
    #[error("the mail server took no message: {0}")]
    Away(String),
}

/// The mail is made by a program, and needs no answer by another (RFC 3834 §5).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

impl MailServer {
    /// The server of these settings. It is not called yet.
    ///
    /// # Errors
    /// `Setup` for settings that can't work.
    pub fn new(settings: &MailSettings) -> Result<Self, NetError> {
        let setup = |what: &str| NetError::Setup(format!("the mail server: {what}"));
        let from: Mailbox = (settings.from.parse())
            .map_err(|_| setup("the sender is not an address such as `Name <name@host>`"))?;
        let host = settings
            .url
            .host()
            .ok_or_else(|| setup("the address has no host"))?;
        let (tls, port) = encryption(settings, &host)?;
        let name = host.to_string();
        let domain = ClientId::Domain(from.email.domain().to_owned());
        let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(name)
            .hello_name(domain)
            .port(settings.url.port().unwrap_or(port))
            .timeout(Some(TIME_OUT))
            .tls(tls);
        let builder = match (&settings.user, &settings.password) {
            (Some(user), Some(password)) => {
                let password = password.expose().to_owned();
                builder.credentials(Credentials::new(user.clone(), password))
            }
            (None, None) => builder,
            _ => return Err(setup("a user needs a password, and a password a user")),
        };
        Ok(Self {
            transport: builder.build(),
            from,
        })
    }

    /// Hands a message to the server. Returns when the server has it.
    ///
    /// # Errors
    /// If the server has not taken it.
    pub async fn send(&self, message: MailMessage<'_>) -> Result<(), MailError> {
        let to: Mailbox = message.to.parse().map_err(|_| MailError::Refused)?;
        let id = format!("<{}@{}>", message.id, self.from.email.domain());
        let mail = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(message.subject)
            .message_id(Some(id))
            .header(AutoSubmitted)
            .header(ContentType::TEXT_PLAIN)
            .body(message.text.to_owned())
            .map_err(|error| MailError::Away(error.to_string()))?;
        let sending = self.transport.send(mail);
        match tokio::time::timeout(CONVERSATION, sending).await {
            Ok(sent) => sent.map(drop).map_err(|error| refused(&error)),
            Err(_) => Err(MailError::Away("no answer in time".to_owned())),
        }
    }

    /// Whether the server answers, and lets us in.
    pub async fn is_there(&self) -> bool {
        let asking = self.transport.test_connection();
        let asked = tokio::time::timeout(CONVERSATION, asking).await;
        asked.is_ok_and(|answer| answer.unwrap_or(false))
    }
}

/// How the connection is encrypted, and the port for that.
fn encryption(settings: &MailSettings, host: &Host<&str>) -> Result<(Tls, u16), NetError> {
    let setup = |what: String| NetError::Setup(format!("the mail server: {what}"));
    let parameters = || {
        let mut builder = TlsParameters::builder(host.to_string());
        if let Some(root) = &settings.root {
            let root = Certificate::from_pem(root.as_bytes());
            builder = builder.add_root_certificate(root.map_err(|error| setup(error.to_string()))?);
        }
        builder
            .build_rustls()
            .map_err(|error| setup(error.to_string()))
    };
    match settings.url.scheme() {
        "smtps" => Ok((Tls::Wrapper(parameters()?), 465)),
        "smtp" if is_loopback(host) && settings.root.is_none() => Ok((Tls::None, 25)),
        "smtp" => Ok((Tls::Required(parameters()?), 587)),
        other => Err(setup(format!("`{other}` is neither smtp nor smtps"))),
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => IpAddr::V4(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(*address).is_loopback(),
    }
}

/// Whether a server refuses the address, or anything else is in the way.
fn refused(error: &lettre::transport::smtp::Error) -> MailError {
    let about_mail = error.status().is_some_and(|code| {
        // RFC 5321 §4.2.3: 550 to 554. Codes about the connection and the log-in are for the operator.
        code.severity == Severity::PermanentNegativeCompletion
            && code.category == Category::MailSystem
    });
    match about_mail {
        true => MailError::Refused,
        false => MailError::Away(error.to_string()),
    }
}
