//! The first page: who one is, and how one proves it.

use askama::Template;

use crate::frame::SignInFrame;
use crate::said::Saying;

/// The page on which a person says who they are and chooses how to prove it.
#[derive(Template)]
#[template(path = "ways.html")]
pub struct WaysPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// The name of the client that asks.
    pub client: String,
    /// Its logo, as an image in an address of its own (RFC 2397).
    pub logo: Option<String>,
    /// The identifier that was typed, or that the client knows.
    pub identifier: String,
    /// What is typed in on this page.
    pub way: TypedWay,
    /// The other ways, with the addresses of their pages.
    pub others: Vec<OtherWay>,
    /// Where the form goes.
    pub action: String,
    /// What the person can correct.
    pub problem: Option<Saying>,
}

/// What a person types in besides their identifier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TypedWay {
    /// Nothing yet: a one-time password is sent.
    Code(CodeChannels),
    /// A password.
    Password,
    /// A password and a one-time password of an authenticator app.
    PasswordAndAppCode,
    /// A personal identification number.
    Pin,
    /// A one-time password of an authenticator app.
    AppCode,
    /// Answers about themselves.
    Knowledge(Vec<KnowledgeField>),
}

/// Where one-time passwords can be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CodeChannels {
    /// To e-mail addresses.
    pub email: bool,
    /// To telephones.
    pub phone: bool,
}

/// Something to be answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnowledgeField {
    /// Its name in the form.
    pub name: String,
    /// What is asked.
    pub label: String,
    /// Whether it is a date.
    pub is_date: bool,
}

/// Another way to sign in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OtherWay {
    /// The way.
    pub kind: WayKind,
    /// The address of its page.
    pub href: String,
}

/// A way to prove who one is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WayKind {
    /// A code that is sent.
    Code,
    /// An authenticator app.
    AppCode,
    /// A personal identification number.
    Pin,
    /// A password.
    Password,
    /// A password and an authenticator app.
    PasswordAndAppCode,
    /// Answers about oneself.
    Knowledge,
    /// A biometric sample.
    Biometrics,
    /// A linked wallet.
    LinkedWallet,
    /// A credential of a wallet.
    Presentation,
    /// A passkey.
    Passkey,
    /// An account elsewhere.
    Upstream,
}

impl WayKind {
    /// The key of its message.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Code => "way-otp",
            Self::AppCode => "way-totp",
            Self::Pin => "way-pin",
            Self::Password => "way-password",
            Self::PasswordAndAppCode => "way-password-totp",
            Self::Knowledge => "way-knowledge",
            Self::Biometrics => "way-biometrics",
            Self::LinkedWallet => "way-linked-wallet",
            Self::Presentation => "way-presentation",
            Self::Passkey => "way-passkey",
            Self::Upstream => "way-upstream",
        }
    }
}
