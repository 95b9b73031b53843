//! What the messages of an exchange carry: texts for people, a preview, and attachments with formats.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The content of a proposal, an offer, a request, a credential or a presentation.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Payload {
    /// A text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// What the sender wants, for programs (RFC 0519).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_code: Option<String>,
    /// The credential that this one replaces, by an identifier of the issuer (RFC 0453).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement_id: Option<String>,
    /// Whether the verifier will acknowledge the presentation (RFC 0454).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub will_confirm: Option<bool>,
    /// The attributes of the credential, as both sides agree on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The same content in one or several formats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Formatted>,
}

/// The attributes that a credential will have (RFC 0453, "Preview Credential").
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Preview {
    /// The attributes, in order.
    pub attributes: Vec<PreviewAttribute>,
}

/// An attribute of a preview.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PreviewAttribute {
    /// Its name.
    pub name: String,
    /// How to show its bytes; without it the value is a text.
    #[serde(
        rename = "mime-type",
        alias = "media_type",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub mime_type: Option<String>,
    /// Its value: a text, or bytes in base64url.
    pub value: String,
}

/// An attachment: bytes in a format. What they mean is for the format to say.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Formatted {
    /// Its identifier in the message.
    pub attach_id: String,
    /// The format, such as `hlindy/cred-abstract@v2.0`. In version 1 the position alone tells it.
    pub format: String,
    /// The bytes; `None` if the message names the format and attaches nothing, as a proposal may.
    #[serde(
        default,
        serialize_with = "write_bytes",
        deserialize_with = "read_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes: Option<Vec<u8>>,
}

impl Payload {
    /// The bytes in this format.
    pub fn in_format(&self, format: &str) -> Option<&[u8]> {
        let mut all = self.attachments.iter();
        all.find(|one| one.format == format)?.bytes.as_deref()
    }
}

fn write_bytes<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    bytes.as_deref().map(base64url_encode).serialize(serializer)
}

fn read_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(deserializer)?;
    let bytes = text.map(|text| base64url_decode(&text)).transpose();
    bytes.map_err(|_| D::Error::custom("not base64url"))
}
