//! `selfsame hsm`: shows what a token of a hardware security module is and holds, and makes keys in it.

use clap::{Args, Subcommand, ValueEnum};
use selfsame_crypto::KeyType;
use selfsame_pkcs11::{Token, TokenState, TokenUri};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::master_key::pin_of_environment;
use selfsame_terminal::output;
use serde::Serialize;

/// Look into a token of a hardware security module (PKCS#11), and make keys in it.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame hsm show 'pkcs11:token=clinic?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/etc/selfsame/pin'

Without pin-source, the PIN is SELFSAME_PKCS11_PIN of the environment. docs/hsm.md says what the keys are for."
)]
pub struct Hsm {
    #[command(subcommand)]
    verb: HsmVerb,
}

#[derive(Subcommand)]
enum HsmVerb {
    /// Show a token: what it can do, and its keys.
    Show(ShowToken),
    /// Make a key that never leaves the token.
    CreateKey(CreateKey),
}

#[derive(Args)]
struct ShowToken {
    /// The token: pkcs11:token=LABEL?module-path=FILE&pin-source=FILE.
    uri: TokenUri,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct CreateKey {
    /// The token and the new key: pkcs11:token=LABEL;object=LABEL?module-path=FILE&pin-source=FILE.
    uri: TokenUri,
    /// What the key is for: to sign, or to encrypt the master key.
    #[arg(long = "type", value_enum)]
    kind: HsmKeyUse,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The types of keys that are made.
#[derive(Clone, Copy, ValueEnum)]
enum HsmKeyUse {
    /// A key pair that signs with ES256.
    #[value(name = "p256")]
    P256,
    /// A key pair that signs with EdDSA.
    #[value(name = "ed25519")]
    Ed25519,
    /// An AES-256 key that encrypts the master key.
    #[value(name = "aes")]
    Aes,
}

/// A token, as the command shows it.
#[derive(Serialize)]
struct ShownToken {
    label: String,
    serial: String,
    model: String,
    signs_p256: bool,
    signs_ed25519: bool,
    encrypts_master_keys: bool,
    keys: Vec<ShownKey>,
}

/// A key in a token, as the command shows it.
#[derive(Serialize)]
struct ShownKey {
    label: String,
    /// `P-256`, `Ed25519`, or `secret`.
    r#type: &'static str,
    /// The public key as a multikey.
    #[serde(skip_serializing_if = "Option::is_none")]
    public: Option<String>,
}

impl Hsm {
    /// Runs the subcommand.
    pub fn run(self) -> End {
        match self.verb {
            HsmVerb::Show(show) => show.run(),
            HsmVerb::CreateKey(create) => create.run(),
        }
    }
}

impl ShowToken {
    fn run(self) -> End {
        let token = Token::new(&self.uri, pin_of_environment())?;
        output::either(self.json, &ShownToken::of(token.state()?), token_lines);
        Ok(Answer::Yes)
    }
}

impl CreateKey {
    fn run(self) -> End {
        let label = match (&self.uri.key.label, &self.uri.key.id) {
            (Some(label), None) => label,
            _ => {
                return Err(Failure::environment("the URI names no new key")
                    .hint("add object=LABEL, and no id: the token gets one that is random"));
            }
        };
        let token = Token::new(&self.uri, pin_of_environment())?;
        let (kind, name) = match self.kind {
            HsmKeyUse::P256 => (KeyType::P256, KeyType::P256.as_str()),
            HsmKeyUse::Ed25519 => (KeyType::Ed25519, KeyType::Ed25519.as_str()),
            HsmKeyUse::Aes => {
                token.create_wrapping_key(label)?;
                return Ok(self.made(label, "secret", None));
            }
        };
        let public = token.create_pair(label, kind)?;
        Ok(self.made(label, name, Some(public.to_multikey())))
    }

    fn made(&self, label: &str, kind: &'static str, public: Option<String>) -> Answer {
        let made = ShownKey {
            label: label.to_owned(),
            r#type: kind,
            public,
        };
        output::either(self.json, &made, |made| vec![key_line(made)]);
        Answer::Yes
    }
}

impl ShownToken {
    fn of(state: TokenState) -> Self {
        let keys = state.keys.into_iter().map(|key| ShownKey {
            label: key.label,
            r#type: key
                .public
                .as_ref()
                .map_or("secret", |key| key.key_type().as_str()),
            public: key.public.map(|key| key.to_multikey()),
        });
        Self {
            label: state.label,
            serial: state.serial,
            model: state.model,
            signs_p256: state.signs_p256,
            signs_ed25519: state.signs_ed25519,
            encrypts_master_keys: state.wraps,
            keys: keys.collect(),
        }
    }
}

fn token_lines(token: &ShownToken) -> Vec<String> {
    let can = |it| if it { "yes" } else { "no" };
    let mut lines = vec![
        format!(
            "token {}, serial {}, {}",
            token.label, token.serial, token.model
        ),
        format!("  signs with P-256 (CKM_ECDSA): {}", can(token.signs_p256)),
        format!(
            "  signs with Ed25519 (CKM_EDDSA): {}",
            can(token.signs_ed25519)
        ),
        format!(
            "  encrypts master keys (CKM_AES_GCM): {}",
            can(token.encrypts_master_keys)
        ),
    ];
    lines.extend(token.keys.iter().map(key_line));
    lines
}

fn key_line(key: &ShownKey) -> String {
    let public = key.public.iter().map(|public| format!(" {public}"));
    format!(
        "key {}: {}{}",
        key.label,
        key.r#type,
        public.collect::<String>()
    )
}
