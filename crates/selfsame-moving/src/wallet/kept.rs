//! A record of a wallet as it is kept: all that the wallet has of it, framed.

use selfsame_askar::{Expiry, RecordKind, RecordTag, WalletRecord};
use selfsame_crypto::{Secret, SecretString, frame};

/// Which form this is.
const FORM: &[u8] = b"askar record 1";

/// A record of a wallet, and the profile that it is from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptRecord {
    /// The profile.
    pub profile: String,
    /// The record.
    pub record: WalletRecord,
}

impl KeptRecord {
    /// The bytes of a record: form, profile, kind, category, name, value, expiry, tags. The expiry is empty, or the
    /// seconds and nanoseconds from 1970; each tag is one byte that says whether it is in plaintext, name, value.
    #[must_use]
    pub fn bytes(profile: &str, record: &WalletRecord) -> Secret {
        let mut tags = Vec::new();
        for tag in &record.tags {
            frame::add(&mut tags, &[u8::from(tag.plaintext)]);
            frame::add(&mut tags, tag.name.as_bytes());
            frame::add(&mut tags, tag.value.expose().as_bytes());
        }
        let expiry = record.expiry.map(|expiry| {
            let mut bytes = expiry.seconds.to_be_bytes().to_vec();
            bytes.extend(expiry.nanoseconds.to_be_bytes());
            bytes
        });
        Secret::new(frame::join(&[
            FORM,
            profile.as_bytes(),
            &[record.kind as u8],
            record.category.as_bytes(),
            record.name.as_bytes(),
            record.value.expose(),
            &expiry.unwrap_or_default(),
            &tags,
        ]))
    }

    /// Reads these bytes; `None` for those that [`Self::bytes`] does not write.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let parts = frame::split(bytes)?;
        let [FORM, profile, &[kind], category, name, value, expiry, tags] = *parts.as_slice()
        else {
            return None;
        };
        let kind = [RecordKind::Key, RecordKind::Item]
            .into_iter()
            .find(|one| *one as u8 == kind)?;
        let record = WalletRecord {
            kind,
            category: text(category)?,
            name: text(name)?,
            value: Secret::new(value.to_vec()),
            tags: parsed_tags(tags)?,
            expiry: match expiry.is_empty() {
                true => None,
                false => Some(parsed_expiry(expiry)?),
            },
        };
        let profile = text(profile)?;
        Some(Self { profile, record })
    }
}

fn parsed_tags(bytes: &[u8]) -> Option<Vec<RecordTag>> {
    let parts = frame::split(bytes)?;
    let (tags, rest) = parts.as_chunks::<3>();
    let tag = |[plaintext, name, value]: &[&[u8]; 3]| {
        Some(RecordTag {
            plaintext: match *plaintext {
                [0] => false,
                [1] => true,
                _ => return None,
            },
            name: text(name)?,
            value: SecretString::new(text(value)?),
        })
    };
    let tags = tags.iter().map(tag).collect::<Option<_>>()?;
    rest.is_empty().then_some(tags)
}

fn parsed_expiry(bytes: &[u8]) -> Option<Expiry> {
    let (seconds, nanoseconds) = bytes.split_first_chunk::<8>()?;
    Some(Expiry {
        seconds: i64::from_be_bytes(*seconds),
        nanoseconds: u32::from_be_bytes(nanoseconds.try_into().ok()?),
    })
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests;
