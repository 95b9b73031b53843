//! The key of a profile: six keys in a CBOR map, and what each of them opens.

use minicbor::Decoder;
use selfsame_crypto::hash::hmac_sha256;
use selfsame_crypto::seal::chacha20_poly1305::ChaChaKey;
use selfsame_crypto::{Secret, SecretString};

use crate::error::{ItemPart, WalletError};
use crate::expiry::Expiry;
use crate::record::{RecordKind, RecordTag, WalletRecord};
use crate::sealed::{SealedItem, SealedTag, StoredExpiry};

/// The key of a profile is much shorter.
const BYTES_MAX: usize = 4096;

/// The keys of a profile.
#[derive(Debug)]
pub struct ProfileKey {
    category: ChaChaKey,
    name: ChaChaKey,
    tag_name: ChaChaKey,
    tag_value: ChaChaKey,
    /// From it and from category and name, the key of each value is derived.
    items: Secret,
}

/// The members of the map that are keys.
const MEMBERS: [&str; 6] = ["ick", "ink", "ihk", "tnk", "tvk", "thk"];

impl ProfileKey {
    /// Reads a map of the version and six keys of 32 bytes.
    ///
    /// # Errors
    /// If the version is another one, or if this is no such map.
    pub fn parse(bytes: &[u8]) -> Result<Self, WalletError> {
        let malformed = || WalletError::Damaged("the key of a profile is malformed".to_owned());
        if bytes.len() > BYTES_MAX {
            return Err(malformed());
        }
        let members = members(bytes).ok_or_else(malformed)?;
        if members.version != "1" {
            return Err(WalletError::Unsupported(
                "the version of a profile's key".to_owned(),
            ));
        }
        let key = |name| ChaChaKey::from_bytes(members.key(name)?);
        let keys = || {
            // The key `thk` makes the nonces of tags, which reading does not need.
            members.key("thk")?;
            Some(Self {
                category: key("ick")?,
                name: key("ink")?,
                tag_name: key("tnk")?,
                tag_value: key("tvk")?,
                items: Secret::new(members.key("ihk")?.to_vec()),
            })
        };
        keys().ok_or_else(malformed)
    }

    /// Opens an item with its tags.
    pub(crate) fn open(
        &self,
        item: SealedItem,
        tags: Vec<SealedTag>,
    ) -> Result<WalletRecord, ItemPart> {
        let kind = RecordKind::of(item.kind).ok_or(ItemPart::Kind)?;
        let category = opened_text(&self.category, item.category).ok_or(ItemPart::Category)?;
        let name = opened_text(&self.name, item.name).ok_or(ItemPart::Name)?;
        let sealed = item.value.ok_or(ItemPart::Size)?;
        let value = self.value_key(&category, &name).ok_or(ItemPart::Value)?;
        let value = value.open(sealed).map_err(|_| ItemPart::Value)?;
        let tags = tags
            .into_iter()
            .map(|tag| self.tag(tag).ok_or(ItemPart::Tag));
        Ok(WalletRecord {
            kind,
            value,
            tags: tags.collect::<Result<_, _>>()?,
            expiry: expiry(item.expiry)?,
            category,
            name,
        })
    }

    /// A value opens only with its own category and name, so a value that was moved does not open.
    fn value_key(&self, category: &str, name: &str) -> Option<ChaChaKey> {
        let length = |text: &str| Some(u32::try_from(text.len()).ok()?.to_be_bytes());
        let parts = [
            &length(category)?[..],
            category.as_bytes(),
            &length(name)?[..],
            name.as_bytes(),
        ];
        let bytes = Secret::new(hmac_sha256(self.items.expose(), &parts).to_vec());
        ChaChaKey::from_bytes(bytes.expose())
    }

    fn tag(&self, tag: SealedTag) -> Option<RecordTag> {
        let name = opened_text(&self.tag_name, tag.name)?;
        let value = match tag.plaintext {
            true => String::from_utf8(tag.value).ok()?,
            false => opened_text(&self.tag_value, tag.value)?,
        };
        Some(RecordTag {
            name,
            value: SecretString::new(value),
            plaintext: tag.plaintext,
        })
    }
}

fn expiry(stored: StoredExpiry) -> Result<Option<Expiry>, ItemPart> {
    match stored {
        StoredExpiry::Never => Ok(None),
        StoredExpiry::At(expiry) => Ok(Some(expiry)),
        StoredExpiry::Unclear => Err(ItemPart::Expiry),
    }
}

fn opened_text(key: &ChaChaKey, sealed: Vec<u8>) -> Option<String> {
    let opened = key.open(sealed).ok()?;
    Some(str::from_utf8(opened.expose()).ok()?.to_owned())
}

/// The members of the map.
struct KeyMembers<'b> {
    version: &'b str,
    keys: [Option<&'b [u8]>; MEMBERS.len()],
}

impl<'b> KeyMembers<'b> {
    fn key(&self, name: &str) -> Option<&'b [u8]> {
        let mut named = MEMBERS.iter().zip(self.keys);
        let (_, key) = named.find(|(member, _)| **member == name)?;
        key.filter(|key| key.len() == 32)
    }
}

/// Reads the map. `None` if a member is missing, unknown or there twice, or if bytes are left over.
fn members(bytes: &[u8]) -> Option<KeyMembers<'_>> {
    let mut from = Decoder::new(bytes);
    let count = from.map().ok()??;
    let mut version = None;
    let mut keys = [None; MEMBERS.len()];
    for _ in 0..count {
        let name = from.str().ok()?;
        if name == "ver" {
            let read = from.str().ok()?;
            if version.replace(read).is_some() {
                return None;
            }
            continue;
        }
        let at = MEMBERS.iter().position(|member| *member == name)?;
        let read = from.bytes().ok()?;
        if keys.get_mut(at)?.replace(read).is_some() {
            return None;
        }
    }
    let is_whole = from.position() == bytes.len();
    is_whole.then_some(KeyMembers {
        version: version?,
        keys,
    })
}

#[cfg(test)]
mod tests;
