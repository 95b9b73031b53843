//! The subject names of a certificate, for display and for decisions of programs (RFC 5280 §4.1.2.6, §4.2.1.6).

use core::net::{Ipv4Addr, Ipv6Addr};

use super::key_usage::{OBJECT_IDENTIFIER, extension};
use crate::der;

const SET: u8 = 0x31;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;
/// id-ce-subjectAltName, 2.5.29.17.
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
/// id-at-commonName, 2.5.4.3, and other attributes with a short name (RFC 4514 §3).
const ATTRIBUTES: [(&[u8], &str); 6] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
];
/// The maximum number of names listed.
const MAX_NAMES: usize = 16;
/// Longer names are cut.
const MAX_CHARS: usize = 256;

/// The names of a certificate's subject.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubjectNames {
    /// The subject's attributes with short names, such as `CN=sensor, O=Plant`; empty if the subject is empty.
    pub subject: String,
    /// The subject's common name.
    pub common_name: Option<String>,
    /// The subject alternative names, each with its kind: `dns:`, `email:`, `uri:` or `ip:`.
    pub alternatives: Vec<String>,
}

/// The subject names of this certificate (DER); `None` if it cannot be read.
pub fn named(certificate: &[u8]) -> Option<SubjectNames> {
    let (subject, _) = der::take(super::after_validity(certificate)?, der::SEQUENCE)?;
    let attributes = attributes(subject)?;
    let common = attributes.iter().find(|(name, _)| *name == "CN");
    let alternatives = match extension(certificate, SUBJECT_ALT_NAME)? {
        Some(names) => alternatives(names)?,
        None => Vec::new(),
    };
    let told = attributes
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    Some(SubjectNames {
        subject: told.collect::<Vec<_>>().join(", "),
        common_name: common.map(|(_, value)| value.clone()),
        alternatives,
    })
}

/// Name ::= SEQUENCE OF SET OF SEQUENCE { type, value }.
pub(super) fn attributes(mut sets: &[u8]) -> Option<Vec<(&'static str, String)>> {
    let mut read = Vec::new();
    while !sets.is_empty() && read.len() < MAX_NAMES {
        let (mut set, after) = der::take(sets, SET)?;
        sets = after;
        while !set.is_empty() {
            let (attribute, after) = der::take(set, der::SEQUENCE)?;
            set = after;
            let (id, value) = der::take(attribute, OBJECT_IDENTIFIER)?;
            let known = ATTRIBUTES.iter().find(|(known, _)| *known == id);
            if let (Some((_, name)), Some(value)) = (known, text(value)) {
                read.push((*name, value));
            }
        }
    }
    Some(read)
}

fn text(value: &[u8]) -> Option<String> {
    let kinds = [UTF8_STRING, PRINTABLE_STRING, IA5_STRING].into_iter();
    let mut content = kinds.filter_map(|kind| der::only(value, kind));
    Some(plain(std::str::from_utf8(content.next()?).ok()?))
}

/// GeneralNames ::= SEQUENCE OF GeneralName, whose kinds differ in their tags.
fn alternatives(names: &[u8]) -> Option<Vec<String>> {
    let (mut names, mut read) = (der::only(names, der::SEQUENCE)?, Vec::new());
    while let (Some(tag), true) = (names.first(), read.len() < MAX_NAMES) {
        let (name, after) = der::take(names, *tag)?;
        names = after;
        let text = || std::str::from_utf8(name).ok().map(plain);
        read.extend(match *tag {
            0x81 => text().map(|name| format!("email:{name}")),
            0x82 => text().map(|name| format!("dns:{name}")),
            0x86 => text().map(|name| format!("uri:{name}")),
            0x87 => address(name).map(|name| format!("ip:{name}")),
            _ => None,
        });
    }
    Some(read)
}

fn address(bytes: &[u8]) -> Option<String> {
    let short = <[u8; 4]>::try_from(bytes).ok();
    let long = || <[u8; 16]>::try_from(bytes).ok();
    match short {
        Some(short) => Some(Ipv4Addr::from(short).to_string()),
        None => long().map(|long| Ipv6Addr::from(long).to_string()),
    }
}

/// Makes a name a single line, so that it cannot imitate other output in a log.
fn plain(text: &str) -> String {
    let plain = text.chars().take(MAX_CHARS);
    plain
        .map(|one| if one.is_control() { '\u{fffd}' } else { one })
        .collect()
}
