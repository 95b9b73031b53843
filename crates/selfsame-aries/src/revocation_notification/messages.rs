//! The messages of both versions.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

use crate::wire::{self, Unreadable, Vocabulary};

/// What begins the thread in version 1, if agents write the place of the credential there.
const INDY: &str = "indy";
/// The formats of version 2.
const FORMATS: [&str; 2] = ["indy-anoncreds", "anoncreds"];

/// A message of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum RevocationMessage {
    /// `revoke`.
    Revoke {
        /// Which credential.
        credential: RevokedCredential,
        /// A word for people.
        comment: Option<String>,
    },
}

/// A credential that was revoked.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum RevokedCredential {
    /// The one that was issued in this thread (version 1).
    #[serde(rename = "thread/1")]
    Thread(String),
    /// The one at this place of a revocation registry.
    #[serde(rename = "registry/1")]
    Registry {
        /// The format, as version 2 names it.
        format: String,
        /// The registry.
        rev_reg_id: String,
        /// The place.
        cred_rev_id: String,
    },
}

#[derive(Deserialize, Serialize)]
struct FirstRevoke {
    thread_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct SecondRevoke {
    revocation_format: String,
    credential_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

impl RevokedCredential {
    /// `<registry>::<place>` of this format.
    fn of_place(format: &str, text: &str) -> Option<Self> {
        let (registry, place) = text.rsplit_once("::")?;
        let is_number = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && !registry.is_empty()).then(|| Self::Registry {
            format: format.to_owned(),
            rev_reg_id: registry.to_owned(),
            cred_rev_id: place.to_owned(),
        })
    }
}

impl Vocabulary for RevocationMessage {
    const PROTOCOL: &'static str = "revocation_notification";
    const VERSIONS: &'static [Semver] = &[Semver::new(2, 0), Semver::new(1, 0)];
    const ADOPTS: bool = false;

    fn read(message: &Message) -> Result<Self, Unreadable> {
        if message.kind.name != "revoke" {
            return Err(Unreadable::Name);
        }
        let wrong = Unreadable::Rule("the notification names no credential");
        if message.kind.version.major == 1 {
            let body: FirstRevoke = wire::body(message)?;
            let place = body
                .thread_id
                .strip_prefix(INDY)
                .and_then(|rest| rest.strip_prefix("::"));
            let credential = match place {
                Some(place) => RevokedCredential::of_place("indy-anoncreds", place).ok_or(wrong)?,
                None => RevokedCredential::Thread(body.thread_id),
            };
            let comment = body.comment;
            return Ok(Self::Revoke {
                credential,
                comment,
            });
        }
        let body: SecondRevoke = wire::body(message)?;
        if !FORMATS.contains(&body.revocation_format.as_str()) {
            return Err(Unreadable::Rule(
                "the format of the revocation is not known",
            ));
        }
        let credential = RevokedCredential::of_place(&body.revocation_format, &body.credential_id);
        Ok(Self::Revoke {
            credential: credential.ok_or(wrong)?,
            comment: body.comment,
        })
    }

    fn name(&self) -> &'static str {
        "revoke"
    }

    fn write(&self, message: &mut Message) {
        let Self::Revoke {
            credential,
            comment,
        } = self;
        let comment = comment.clone();
        let is_first = message.kind.version.major == 1;
        match credential {
            RevokedCredential::Registry {
                format,
                rev_reg_id,
                cred_rev_id,
            } if !is_first => {
                let body = SecondRevoke {
                    revocation_format: format.clone(),
                    credential_id: format!("{rev_reg_id}::{cred_rev_id}"),
                    comment,
                };
                wire::put_body(message, &body);
            }
            RevokedCredential::Registry {
                rev_reg_id,
                cred_rev_id,
                ..
            } => {
                let thread_id = format!("{INDY}::{rev_reg_id}::{cred_rev_id}");
                wire::put_body(message, &FirstRevoke { thread_id, comment });
            }
            RevokedCredential::Thread(thread) => {
                let thread_id = thread.clone();
                wire::put_body(message, &FirstRevoke { thread_id, comment });
            }
        }
    }
}
