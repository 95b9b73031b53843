//! The settings of sign-ins: who knows people, and how codes reach them.

use std::path::PathBuf;
use std::time::Duration;

use selfsame_crypto::Algorithm;
use selfsame_oidc::Preset;
use serde::Deserialize;
use url::Url;

use crate::mock::MockAlgorithm;

/// The section `[sign_in]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SignInConfig {
    /// The identity system.
    pub people: People,
    /// The rules of clients that name none.
    pub preset: Preset,
    /// Whether eSignet's interface is served.
    pub esignet: bool,
    /// The calls of sign-ins that one address may make in ten minutes; the provider's own number if absent.
    pub calls_per_address: Option<u64>,
    /// Whether the provider's new signing keys are made in the token of `[pkcs11]`.
    pub pkcs11_keys: bool,
    /// The mock identity system.
    pub mock: MockSection,
    /// Another OpenID provider.
    pub upstream: Option<UpstreamSection>,
    /// The mail server.
    pub mail: Option<MailSection>,
    /// The gateway of text messages.
    pub text_messages: Option<TextSection>,
    /// Whether codes are shown on the screen of the browser that asks for one, for trying out. They then protect nothing.
    pub codes_on_screen: bool,
}

/// The identity systems.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum People {
    /// The accounts of people with a wallet here.
    #[default]
    Accounts,
    /// The mock identity system, in this process or another.
    Mock,
    /// Another OpenID provider.
    Upstream,
}

/// The section `[sign_in.mock]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MockSection {
    /// How long each answer is held back, in milliseconds.
    pub delay_ms: u64,
    /// Where it is, if it is a process of its own: `http://host:8082/v1/mock-identity-system/`.
    pub url: Option<Url>,
    /// How long an answer of that process is waited for, in seconds; 5 if absent.
    pub time_out: Option<u64>,
    /// What claims are signed with in this process.
    pub algorithm: MockAlgorithm,
    /// How many calls to that process are under way at once; 1,024 if absent.
    pub calls_at_once: Option<usize>,
}

/// The section `[sign_in.upstream]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamSection {
    /// The issuer identifier of the provider.
    pub issuer: Url,
    /// The identifier of this instance there.
    pub client_id: String,
    /// The file with the secret of this instance there.
    pub client_secret_file: PathBuf,
    /// The scopes that are asked for, `openid` among them; `openid profile email` if absent.
    pub scope: Option<String>,
    /// The algorithm that this instance registered there for userinfo, which then must be signed; signed or not if absent.
    pub userinfo_signed_response_alg: Option<Algorithm>,
}

/// The section `[sign_in.mail]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSection {
    /// `smtps://host`, or `smtp://host` with STARTTLS.
    pub url: Url,
    /// The user, if the server wants one.
    pub user: Option<String>,
    /// The file with its password.
    pub password_file: Option<PathBuf>,
    /// The sender, such as `City of Ghent <no-reply@ghent.example>`.
    pub from: String,
}

/// The section `[sign_in.text_messages]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextSection {
    /// Where messages are posted to.
    pub url: Url,
    /// The file with the token that the gateway knows this instance by.
    pub token_file: Option<PathBuf>,
}

impl MockSection {
    /// How long each answer is held back.
    #[must_use]
    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    /// How long an answer of another process is waited for.
    #[must_use]
    pub fn time_out(&self) -> Duration {
        Duration::from_secs(self.time_out.unwrap_or(5))
    }

    /// How many calls to another process are under way at once.
    #[must_use]
    pub fn calls_at_once(&self) -> usize {
        self.calls_at_once.unwrap_or(1_024)
    }
}
