//! The notation in which people read an item (RFC 8949 §8), on lines of their own where that helps. Encoded items within
//! byte strings are shown as items (RFC 8610 §G.3).

use std::fmt::Write as _;

use crate::tree::{Cbor, CborKind, CborLimits};

/// Items that fit a line stand on one.
const LINE: usize = 80;
/// Of a longer byte string this many bytes are shown.
const SHOWN: usize = 64;
const INDENT: &str = "  ";

/// What is shown of long byte strings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LongBytes {
    /// All bytes.
    Whole,
    /// The first 64 bytes, and a comment with the length.
    Begin,
}

/// The item in diagnostic notation. Items within byte strings are read within `limits`; the depth that is left at
/// their place bounds theirs, so that the whole is never deeper than `limits.depth`.
pub fn diagnostic(item: &Cbor<'_>, limits: &CborLimits, long: LongBytes) -> String {
    let writing = Writing { limits, long };
    writing.item(item, limits.depth, 0)
}

struct Writing<'l> {
    limits: &'l CborLimits,
    long: LongBytes,
}

impl Writing<'_> {
    fn item(&self, item: &Cbor<'_>, depth: usize, indent: usize) -> String {
        let below = depth.saturating_sub(1);
        let inner = indent.saturating_add(1);
        match item.kind() {
            CborKind::Int(number) => number.to_string(),
            CborKind::Bytes(bytes) => self.bytes(bytes),
            CborKind::Text(text) => quoted(text),
            CborKind::Array(items) => {
                let items = items.iter().map(|item| self.item(item, below, inner));
                framed("[", items.collect(), "]", indent)
            }
            CborKind::Map(pairs) => {
                let pairs = pairs.iter().map(|pair| {
                    let key = self.item(&pair.key, below, inner);
                    format!("{key}: {}", self.item(&pair.value, below, inner))
                });
                framed("{", pairs.collect(), "}", indent)
            }
            CborKind::Tag(tag, content) => match self.within(item, below) {
                Some(within) => {
                    let within = self.item(&within, below, inner);
                    format!("{tag}({})", framed("<<", vec![within], ">>", indent))
                }
                None => format!("{tag}({})", self.item(content, below, indent)),
            },
            CborKind::Bool(value) => value.to_string(),
            CborKind::Null => "null".to_owned(),
            CborKind::Undefined => "undefined".to_owned(),
            CborKind::Simple(value) => format!("simple({value})"),
            CborKind::Float(bits) => float(f64::from_bits(*bits)),
        }
    }

    /// The item within a byte string, if it is one, and not too deep.
    fn within<'b>(&self, item: &Cbor<'b>, depth: usize) -> Option<Cbor<'b>> {
        let limits = CborLimits {
            depth: depth.checked_sub(1)?,
            ..self.limits.clone()
        };
        item.embedded(&limits).ok()
    }

    fn bytes(&self, bytes: &[u8]) -> String {
        match (bytes.split_at_checked(SHOWN), self.long) {
            (Some((begin, [_, ..])), LongBytes::Begin) => {
                format!("h'{}…' / {} bytes /", hex(begin), bytes.len())
            }
            _ => format!("h'{}'", hex(bytes)),
        }
    }
}

/// The items on one line, or each on a line of its own.
fn framed(begin: &str, items: Vec<String>, end: &str, indent: usize) -> String {
    let length: usize = items.iter().map(|item| item.len().saturating_add(2)).sum();
    let is_short = items.iter().all(|item| !item.contains('\n'));
    let indented = indent.saturating_mul(INDENT.len());
    if is_short && length.saturating_add(indented) <= LINE {
        return format!("{begin}{}{end}", items.join(", "));
    }
    let inner = INDENT.repeat(indent.saturating_add(1));
    let lines = items.join(&format!(",\n{inner}"));
    format!("{begin}\n{inner}{lines}\n{}{end}", INDENT.repeat(indent))
}

/// A text in the form of JSON. What is no visible character of ASCII or a letter is escaped, so that a text from outside
/// cannot steer a terminal or turn the direction of what follows.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('"');
    for one in text.chars() {
        match one {
            '"' | '\\' => {
                out.push('\\');
                out.push(one);
            }
            ' '..='~' => out.push(one),
            _ if one.is_alphanumeric() => out.push(one),
            _ => {
                let mut units = [0; 2];
                for unit in one.encode_utf16(&mut units) {
                    // Writing to memory cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

fn float(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        format!("{sign}Infinity")
    } else {
        format!("{number:?}")
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to memory cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let limits = CborLimits::default();
        let item = Cbor::parse(bytes, &limits).unwrap();
        diagnostic(&item, &limits, LongBytes::Whole)
    }

    #[test]
    fn the_examples_of_rfc_8949_are_shown_as_its_appendix_a_does() {
        for (bytes, text) in [
            (&[0x00][..], "0"),
            (
                &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                "18446744073709551615",
            ),
            (
                &[0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                "-18446744073709551616",
            ),
            (&[0xf9, 0x3c, 0x00], "1.0"),
            (
                &[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a],
                "1.1",
            ),
            (&[0xf9, 0x7c, 0x00], "Infinity"),
            (&[0xfa, 0xff, 0x80, 0x00, 0x00], "-Infinity"),
            (&[0xf9, 0x7e, 0x00], "NaN"),
            (&[0xf4], "false"),
            (&[0xf6], "null"),
            (&[0xf7], "undefined"),
            (&[0xf0], "simple(16)"),
            (&[0xf8, 0xff], "simple(255)"),
            (&[0xc1, 0x1a, 0x51, 0x4b, 0x67, 0xb0], "1(1363896240)"),
            (&[0x44, 1, 2, 3, 4], "h'01020304'"),
            (&[0x62, 0x22, 0x5c], r#""\"\\""#),
            (&[0x62, 0xc3, 0xbc], "\"ü\""),
            (&[0x83, 0x01, 0x82, 2, 3, 0x82, 4, 5], "[1, [2, 3], [4, 5]]"),
            (
                &[0xa2, 0x61, b'a', 1, 0x61, b'b', 0x82, 2, 3],
                r#"{"a": 1, "b": [2, 3]}"#,
            ),
            (&[0xd8, 0x18, 0x43, 0x82, 0x01, 0x02], "24(<<[1, 2]>>)"),
            (&[0xd8, 0x18, 0x41, 0xff], "24(h'ff')"),
        ] {
            assert_eq!(shown(bytes), text, "{bytes:02x?}");
        }
    }

    #[test]
    fn text_that_steers_a_terminal_is_escaped() {
        let text = "\u{1b}[2J\u{202e}\u{9b}😀";
        let bytes = crate::deterministic::encode(|to| {
            to.text(text);
        });
        assert_eq!(shown(&bytes), r#""\u001b[2J\u202e\u009b\ud83d\ude00""#);
    }

    #[test]
    fn long_items_stand_on_lines_of_their_own_and_long_bytes_are_cut() {
        let bytes = crate::deterministic::encode(|to| {
            to.map(2)
                .int(1)
                .bytes(&[7; 100])
                .int(2)
                .text(&"x".repeat(70));
        });
        let limits = CborLimits::default();
        let item = Cbor::parse(&bytes, &limits).unwrap();
        let shown = diagnostic(&item, &limits, LongBytes::Begin);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[3]), (4, "{", "}"));
        assert!(lines[1].ends_with("07…' / 100 bytes /,"), "{shown}");
    }

    #[test]
    fn items_within_byte_strings_are_shown_only_as_deep_as_the_limit() {
        let mut bytes = vec![0x80];
        for _ in 0..40 {
            bytes = crate::deterministic::encode(|to| {
                to.embedded(&bytes);
            });
        }
        let shown = shown(&bytes);
        let levels = shown.matches("<<").count();
        assert!((4..=16).contains(&levels), "{levels} {shown}");
    }
}
