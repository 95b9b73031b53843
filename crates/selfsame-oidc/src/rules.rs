//! What a provider demands, by preset.

use selfsame_crypto::Algorithm;
use selfsame_oauth::client::AuthenticationMethod;
use serde::{Deserialize, Serialize};

/// A named set of rules.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// OpenID Connect Core with the security of RFC 9700.
    #[default]
    Strict,
    /// FAPI 2.0 Security Profile.
    Fapi2,
    /// Wallets, which have no secret: requests are pushed, and tokens are bound to a key (OpenID4VCI 1.0 §13.10).
    Wallets,
    /// The tolerances of clients of eSignet 1.4.
    LegacyEsignet,
}

/// How a redirect URI is compared with the registered ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RedirectMatching {
    /// Character by character (RFC 9700 §2.1).
    Exact,
    /// A registered URI may end with `/**`, which stands for any path below, or with `/*`, which stands for one part of a
    /// path; and it may be plain http.
    BelowPath,
}

/// The rules of a provider.
#[derive(Clone, Debug)]
pub struct ProviderRules {
    /// How redirect URIs are compared.
    pub redirects: RedirectMatching,
    /// Whether authorization requests must be pushed (RFC 9126).
    pub requires_par: bool,
    /// Whether authorization requests need a code challenge (RFC 7636).
    pub requires_pkce: bool,
    /// Whether access tokens must be bound to a key (RFC 9449).
    pub requires_dpop: bool,
    /// Whether DPoP proofs need a nonce of the server.
    pub requires_dpop_nonce: bool,
    /// How clients may authenticate.
    pub methods: &'static [AuthenticationMethod],
    /// The algorithms with which clients may sign, and tokens are signed.
    pub algorithms: &'static [Algorithm],
    /// Whether an assertion needs a `jti`.
    pub needs_jti: bool,
    /// Whether an assertion's only audience is the issuer.
    pub issuer_is_audience: bool,
    /// How far the clocks of clients may differ, in seconds.
    pub leeway: u64,
    /// Whether a refresh token is replaced at each use.
    pub rotates_refresh_tokens: bool,
    /// The lifetimes.
    pub lifetimes: Lifetimes,
}

/// Lifetimes, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// Of a sign-in until its code is given.
    pub sign_in: u64,
    /// Of a pushed request (RFC 9126 §2.2).
    pub pushed_request: u64,
    /// Of a code.
    pub code: u64,
    /// Of an access token.
    pub access_token: u64,
    /// Of an ID token.
    pub id_token: u64,
    /// Of a refresh token since its last use.
    pub refresh_token: u64,
    /// The longest time that an assertion or a request object may be valid.
    pub assertion: u64,
    /// Of a DPoP proof.
    pub proof: u64,
    /// Of a session.
    pub session: u64,
    /// Of an agreement.
    pub consent: u64,
}

impl Lifetimes {
    const STRICT: Self = Self {
        sign_in: 600,
        pushed_request: 90,
        code: 60,
        access_token: 600,
        id_token: 600,
        refresh_token: 30 * 86_400,
        assertion: 3_600,
        proof: 60,
        session: 12 * 3_600,
        consent: 365 * 86_400,
    };
}

impl ProviderRules {
    /// The rules of a preset.
    #[must_use]
    pub fn of(preset: Preset) -> Self {
        match preset {
            Preset::Strict => Self::strict(),
            Preset::Fapi2 => Self::fapi2(),
            Preset::Wallets => Self::wallets(),
            Preset::LegacyEsignet => Self::legacy_esignet(),
        }
    }

    fn strict() -> Self {
        Self {
            redirects: RedirectMatching::Exact,
            requires_par: false,
            requires_pkce: true,
            requires_dpop: false,
            requires_dpop_nonce: false,
            methods: &AuthenticationMethod::ALL,
            algorithms: &[
                Algorithm::Es256,
                Algorithm::Ps256,
                Algorithm::EdDsa,
                Algorithm::Rs256,
            ],
            needs_jti: true,
            issuer_is_audience: false,
            leeway: 10,
            rotates_refresh_tokens: true,
            lifetimes: Lifetimes::STRICT,
        }
    }

    /// FAPI 2.0 Security Profile §5.3.2 and §5.4.
    fn fapi2() -> Self {
        Self {
            requires_par: true,
            requires_dpop: true,
            requires_dpop_nonce: true,
            methods: &[AuthenticationMethod::PrivateKeyJwt],
            algorithms: &[Algorithm::Es256, Algorithm::Ps256, Algorithm::EdDsa],
            issuer_is_audience: true,
            // §5.3.2.1: refresh tokens are not rotated; they are bound to the client's key.
            rotates_refresh_tokens: false,
            ..Self::strict()
        }
    }

    fn wallets() -> Self {
        Self {
            requires_par: true,
            requires_dpop: true,
            requires_dpop_nonce: true,
            ..Self::strict()
        }
    }

    fn legacy_esignet() -> Self {
        Self {
            redirects: RedirectMatching::BelowPath,
            requires_pkce: false,
            methods: &[AuthenticationMethod::PrivateKeyJwt],
            needs_jti: false,
            lifetimes: Lifetimes {
                sign_in: 180,
                access_token: 3_600,
                id_token: 3_600,
                ..Lifetimes::STRICT
            },
            ..Self::strict()
        }
    }
}
