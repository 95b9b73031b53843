//! The lines of a file with a moved tenant. The first says what the file is; each further one is sealed, bound to the
//! first line and to its own number.

use std::io::BufRead;

use selfsame_crypto::encoding::{base64url_append, base64url_decode};
use selfsame_crypto::password::Stretching;
use selfsame_crypto::seal::{SealError, SealingKey};
use selfsame_crypto::{SecretString, frame, hash};
use selfsame_store::{TenantId, Vault};
use serde::{Deserialize, Serialize};

use crate::error::MoveError;

/// The name of the format.
const FORMAT: &str = "selfsame-tenant";
/// The version of the format. Any change of what the lines say raises it.
const VERSION: u64 = 2;
/// The longest line, in bytes. The largest record of a store, sealed and written as text, has less.
pub const LINE_MAX: usize = 16 << 20;
/// What separates the seals of these lines from all others.
const PURPOSE: &[u8] = b"selfsame tenant line 1";
const WRAPPING: &[u8] = b"selfsame tenant key 1";

/// The first line.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FileHeader {
    format: String,
    version: u64,
    /// The tenant.
    pub tenant: TenantId,
    /// How the key is derived from the passphrase, with a salt that no other file has.
    stretching: String,
}

/// What tells the format and the version of a first line, whatever else it has.
#[derive(Deserialize)]
struct AnyHeader {
    format: String,
    version: u64,
}

impl FileHeader {
    /// The header of a new file.
    #[must_use]
    pub fn draw(tenant: TenantId) -> Self {
        let stretching = Stretching::draw().to_bytes();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            tenant,
            stretching: String::from_utf8_lossy(&stretching).trim_end().to_owned(),
        }
    }

    /// Reads the first line.
    ///
    /// # Errors
    /// `Foreign` and `OtherVersion` for what is no such line.
    pub fn parse(line: &[u8]) -> Result<Self, MoveError> {
        let foreign = |_| MoveError::Foreign("its first line says something else");
        let any: AnyHeader = serde_json::from_slice(line).map_err(foreign)?;
        if any.format != FORMAT {
            return Err(MoveError::Foreign("its first line names another format"));
        }
        if any.version != VERSION {
            return Err(MoveError::OtherVersion(any.version));
        }
        serde_json::from_slice(line).map_err(foreign)
    }

    /// The line, without a line feed.
    #[must_use]
    pub fn to_line(&self) -> String {
        // A struct of texts and numbers is always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The seal of the lines after this one. Takes about a second of one core and 256 MiB.
    ///
    /// # Errors
    /// `Foreign` for a derivation that no release writes; `Key` for a passphrase that is too long.
    pub fn seal(&self, passphrase: &SecretString) -> Result<LineSeal, MoveError> {
        let stretching = Stretching::parse(format!("{}\n", self.stretching).as_bytes());
        let stretching = stretching.ok_or(MoveError::Foreign("its key is derived differently"))?;
        Ok(LineSeal::new(&stretching.key(passphrase)?, self))
    }
}

/// Seals and opens the lines after the first.
pub struct LineSeal {
    key: SealingKey,
    /// Wraps the tenant's key in the file.
    pub(crate) vault: Vault,
    header: [u8; 32],
}

/// A sealed line as it is written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SealedLine<'a> {
    line: u64,
    sealed: &'a str,
}

/// A sealed line, opened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenedLine {
    /// Its number in the file as it was written; the first line is line 1.
    pub number: u64,
    /// What it says.
    pub plain: Vec<u8>,
}

/// Why a line says nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoLine {
    /// It is not a sealed line at all, or is cut off.
    Malformed,
    /// It was changed, or belongs to another file.
    Changed,
}

impl LineSeal {
    /// The seal with this key.
    #[must_use]
    pub fn new(key: &SealingKey, header: &FileHeader) -> Self {
        Self {
            key: key.derive(PURPOSE),
            vault: Vault::from_master(key.derive(WRAPPING)),
            header: hash::sha256(header.to_line().as_bytes()),
        }
    }

    /// The line with this number, without a line feed. No number may be used twice.
    ///
    /// # Errors
    /// If there is more than a line can have.
    pub fn line(&self, number: u64, plain: &[u8]) -> Result<String, MoveError> {
        // The key is that of this file alone, and the number that of this line.
        let mut nonce = [0; 12];
        let (_, last) = nonce.split_at_mut(4);
        last.copy_from_slice(&number.to_be_bytes());
        let sealed = self.key.seal(nonce, &self.bound(number), plain);
        let sealed = sealed.map_err(|SealError| MoveError::Foreign("a line can't be sealed"))?;
        let mut line = format!(r#"{{"line":{number},"sealed":""#);
        base64url_append(&sealed, &mut line);
        line.push_str("\"}");
        match line.len() <= LINE_MAX {
            true => Ok(line),
            false => Err(MoveError::Foreign("a record is longer than a line can be")),
        }
    }

    /// Opens a line.
    ///
    /// # Errors
    /// Why it says nothing.
    pub fn open(&self, line: &[u8]) -> Result<OpenedLine, NoLine> {
        let sealed: SealedLine<'_> = serde_json::from_slice(line).map_err(|_| NoLine::Malformed)?;
        let bytes = base64url_decode(sealed.sealed).map_err(|_| NoLine::Malformed)?;
        let number = sealed.line;
        let opened = self.key.open(&self.bound(number), &bytes);
        let plain = opened.map_err(|SealError| NoLine::Changed)?;
        Ok(OpenedLine { number, plain })
    }

    fn bound(&self, number: u64) -> Vec<u8> {
        frame::join(&[PURPOSE, &self.header, &number.to_be_bytes()])
    }
}

/// A line of a file as it is read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadLine {
    /// Its bytes, without the line feed.
    Bytes(Vec<u8>),
    /// It has more than [`LINE_MAX`] bytes, which are passed over.
    TooLong,
}

/// Reads lines, and never holds more than one of them.
pub struct LineReader<R> {
    from: R,
    number: u64,
}

impl<R: BufRead> LineReader<R> {
    /// A reader that begins with the first line.
    pub fn new(from: R) -> Self {
        Self { from, number: 0 }
    }

    /// The number of the line that was read last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` after the last.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn next_line(&mut self) -> std::io::Result<Option<ReadLine>> {
        let (mut line, mut is_too_long, mut is_any) = (Vec::new(), false, false);
        loop {
            let buffer = self.from.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            is_any = true;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let (taken, _) = buffer.split_at(end.unwrap_or(buffer.len()));
            is_too_long |= line.len().saturating_add(taken.len()) > LINE_MAX;
            match is_too_long {
                true => line = Vec::new(),
                false => line.extend_from_slice(taken),
            }
            let used = taken.len().saturating_add(usize::from(end.is_some()));
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.number = self.number.saturating_add(u64::from(is_any));
        Ok(is_any.then_some(match is_too_long {
            true => ReadLine::TooLong,
            false => ReadLine::Bytes(line),
        }))
    }
}

#[cfg(test)]
mod tests;
