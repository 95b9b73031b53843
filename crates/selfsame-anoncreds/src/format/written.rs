//! Writing messages, within the limits in which they can be read again.

use std::io::{Error, Write};

use selfsame_crypto::json::{JsonError, Limits};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use zeroize::Zeroizing;

/// The JSON of a value; `None` if it cannot be written at all.
///
/// # Errors
/// The limit that a reader of the text would report.
pub(super) fn written(
    value: &impl Serialize,
    limits: &Limits,
) -> Result<Option<Vec<u8>>, JsonError> {
    let mut text = Text::default();
    let mut count = Count {
        members: limits.max_members,
        depth: limits.max_depth,
        refused: None,
    };
    let done = value.serialize(&mut Serializer::with_formatter(&mut text, &mut count));
    if let Some(refused) = count.refused {
        return Err(refused);
    }
    if text.0.len() > limits.max_bytes {
        return Err(JsonError::TooLong);
    }
    Ok(done.is_ok().then(|| std::mem::take(&mut *text.0)))
}

/// The text so far. Growing copies it, and every copy is wiped.
#[derive(Default)]
struct Text(Zeroizing<Vec<u8>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = self.0.len().saturating_add(bytes.len());
        if length > self.0.capacity() {
            let mut longer = Zeroizing::new(Vec::with_capacity(length.saturating_mul(2).max(4096)));
            longer.extend_from_slice(&self.0);
            self.0 = longer;
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The remaining numbers of members and elements, and the remaining nesting depth.
struct Count {
    members: usize,
    depth: usize,
    refused: Option<JsonError>,
}

impl Count {
    fn refuse(&mut self, why: JsonError) -> std::io::Result<()> {
        self.refused = Some(why);
        Err(Error::other("past a limit"))
    }

    fn deeper(&mut self) -> std::io::Result<()> {
        match self.depth.checked_sub(1) {
            Some(left) => self.depth = left,
            None => return self.refuse(JsonError::TooDeep),
        }
        Ok(())
    }

    fn spend(&mut self) -> std::io::Result<()> {
        match self.members.checked_sub(1) {
            Some(left) => self.members = left,
            None => return self.refuse(JsonError::TooMany),
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_add(1);
    }
}

/// Formats as `serde_json` does without spaces, and counts.
impl Formatter for &mut Count {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.deeper()?;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.leave();
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        self.spend()?;
        separate(writer, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.deeper()?;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.leave();
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        self.spend()?;
        separate(writer, first)
    }
}

fn separate(writer: &mut (impl Write + ?Sized), first: bool) -> std::io::Result<()> {
    if first {
        return Ok(());
    }
    writer.write_all(b",")
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::json;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_written_is_what_is_read_within_the_same_limits() {
        let deep = json!({ "a": [[], {}], "b": [1, [2, { "c": null, "d": "x,y" }], "[{"] });
        let whole = serde_json::to_vec(&deep).unwrap();
        let of = |max_bytes, max_depth, max_members| Limits {
            max_bytes,
            max_depth,
            max_members,
        };
        let mut refused = std::collections::BTreeSet::new();
        for max_bytes in [0, whole.len() - 1, whole.len()] {
            for (max_depth, max_members) in (0..6).flat_map(|d| (0..14).map(move |m| (d, m))) {
                let limits = of(max_bytes, max_depth, max_members);
                let read = json::parse(&whole, &limits);
                match written(&deep, &limits) {
                    Ok(text) => {
                        assert_eq!(text.as_ref(), Some(&whole));
                        assert_eq!(read.as_ref(), Ok(&deep), "{limits:?}");
                    }
                    Err(why) => {
                        assert!(read.is_err(), "{limits:?}");
                        refused.insert(why.to_string());
                    }
                }
            }
        }
        assert_eq!(refused.len(), 3);
        assert_eq!(
            written(&Value::Null, &of(4, 0, 0)),
            Ok(Some(b"null".into()))
        );
    }
}
