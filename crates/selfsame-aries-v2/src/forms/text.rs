//! Basic message: 1.0 of RFC 0095, 2.0 of didcomm.org. The time and the language are headers there.

use selfsame_aries::wire::Unreadable;
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde_json::{Value, json};

use super::{NamedVersion, TwoForms};

/// The decorator of languages (RFC 0043), and the header.
const L10N: &str = "~l10n";
const LANGUAGE: &str = "lang";
/// The member of the time that the sender gives.
const SENT: &str = "sent_time";
/// The maximum length of the name of a language (RFC 5646 §4.4.1 wants 35).
const LANGUAGE_MAX: usize = 35;

/// The protocol in the table.
pub(super) const FORM: TwoForms = TwoForms {
    rfc: NamedVersion::new("basicmessage", Semver::new(1, 0)),
    v2: NamedVersion::new("basicmessage", Semver::new(2, 0)),
    renamed: &[],
    write,
    read,
};

fn write(message: &mut Message) -> Result<(), Unreadable> {
    let sent = message.body.remove(SENT);
    let sent = sent.as_ref().and_then(Value::as_str);
    message.created = sent.and_then(UnixTime::parse_rfc3339);
    Ok(())
}

fn read(message: &mut Message) -> Result<(), Unreadable> {
    message.body.remove(SENT);
    if let Some(created) = message.created {
        let sent = json!(created.rfc3339());
        message.body.insert(SENT.to_owned(), sent);
    }
    Ok(())
}

/// The language of a message of the RFCs, as the header of v2 says it (DIDComm v2.1, "Internationalization").
pub(super) fn keep_language(from: &Message, to: &mut Message) {
    let locale = from.other.get(L10N).and_then(|l10n| l10n.get("locale"));
    if let Some(locale) = locale {
        to.other.insert(LANGUAGE.to_owned(), locale.clone());
    }
}

/// The language of a message of v2, as the decorator of the RFCs says it.
pub(super) fn take_language(from: &Message, to: &mut Message) {
    let language = from.other.get(LANGUAGE).and_then(Value::as_str);
    if let Some(language) = language.filter(|language| language.len() <= LANGUAGE_MAX) {
        let locale = json!({ "locale": language });
        to.other.insert(L10N.to_owned(), locale);
    }
}
