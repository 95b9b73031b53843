//! The message.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::wire::{self, Unreadable, Vocabulary};

/// The decorator of languages (RFC 0043).
const L10N: &str = "~l10n";

/// A message of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum BasicMessage {
    /// `message`.
    Text(TextMessage),
}

/// A text for people. It is untrusted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TextMessage {
    /// The text.
    pub content: String,
    /// When the sender says it was sent, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_time: Option<String>,
    /// The language of the text.
    #[serde(skip)]
    pub locale: Option<String>,
}

impl Vocabulary for BasicMessage {
    const PROTOCOL: &'static str = "basicmessage";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];
    const ADOPTS: bool = false;

    fn read(message: &Message) -> Result<Self, Unreadable> {
        if message.kind.name != "message" {
            return Err(Unreadable::Name);
        }
        let locale = message.other.get(L10N).and_then(|l10n| l10n.get("locale"));
        let text: TextMessage = wire::body(message)?;
        Ok(Self::Text(TextMessage {
            locale: locale.and_then(Value::as_str).map(str::to_owned),
            ..text
        }))
    }

    fn name(&self) -> &'static str {
        "message"
    }

    fn write(&self, message: &mut Message) {
        let Self::Text(text) = self;
        wire::put_body(message, text);
        if let Some(locale) = &text.locale {
            message
                .other
                .insert(L10N.to_owned(), json!({ "locale": locale }));
        }
    }
}
