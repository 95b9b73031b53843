//! PKCS#11 URIs (RFC 7512): where a token is, which of its keys is meant, and which file has the PIN.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use selfsame_driver::{Error, Result};

/// Maximum length of a URI, in bytes.
const LONGEST: usize = 4096;
const SCHEME: &str = "pkcs11:";

/// A token, and possibly one of its keys.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenUri {
    /// The module's file: an absolute path.
    pub module: PathBuf,
    /// Which of the module's tokens.
    pub token: TokenQuery,
    /// Which key of the token; empty if the URI names none.
    pub key: KeyQuery,
    /// The file with the PIN: an absolute path.
    pub pin_source: Option<PathBuf>,
}

/// What a token must be called. All that is set must agree.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TokenQuery {
    /// Its label.
    pub label: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Its manufacturer.
    pub manufacturer: Option<String>,
    /// Its model.
    pub model: Option<String>,
}

/// What a key must be called. All that is set must agree.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct KeyQuery {
    /// Its label, `CKA_LABEL`.
    pub label: Option<String>,
    /// Its identifier, `CKA_ID`.
    pub id: Option<Vec<u8>>,
}

impl KeyQuery {
    /// The key with this label.
    #[must_use]
    pub fn labelled(label: &str) -> Self {
        Self {
            label: Some(label.to_owned()),
            id: None,
        }
    }

    /// Whether it names no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.label.is_none() && self.id.is_none()
    }
}

impl FromStr for TokenUri {
    type Err = Error;

    /// Reads a URI. An attribute that is not known here is refused: ignoring it could find another key than the one
    /// that is meant (RFC 7512 §2.5).
    fn from_str(text: &str) -> Result<Self> {
        let rest = match text.split_at_checked(SCHEME.len()) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => rest,
            _ => return Err(malformed("it does not begin with pkcs11:")),
        };
        if text.len() > LONGEST {
            return Err(malformed("it is too long"));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut read = Attributes::default();
        for attribute in path.split(';').filter(|one| !one.is_empty()) {
            read.of_path(attribute)?;
        }
        for attribute in query.split('&').filter(|one| !one.is_empty()) {
            read.of_query(attribute)?;
        }
        let module = read.module;
        let module = module.ok_or_else(|| malformed("module-path is missing"))?;
        if read.token == TokenQuery::default() {
            return Err(malformed("it names no token: token or serial is missing"));
        }
        Ok(Self {
            module,
            token: read.token,
            key: read.key,
            pin_source: read.pin_source,
        })
    }
}

#[derive(Default)]
struct Attributes {
    module: Option<PathBuf>,
    token: TokenQuery,
    key: KeyQuery,
    kind: Option<String>,
    pin_source: Option<PathBuf>,
}

impl Attributes {
    /// An attribute before the question mark (RFC 7512 §2.3).
    fn of_path(&mut self, attribute: &str) -> Result<()> {
        let (name, value) = named(attribute)?;
        match name {
            "token" => once(&mut self.token.label, utf8(&value)?, name),
            "serial" => once(&mut self.token.serial, utf8(&value)?, name),
            "manufacturer" => once(&mut self.token.manufacturer, utf8(&value)?, name),
            "model" => once(&mut self.token.model, utf8(&value)?, name),
            "object" => once(&mut self.key.label, utf8(&value)?, name),
            "id" => once(&mut self.key.id, value, name),
            // What kind of key is needed follows from its use.
            "type" if matches!(value.as_slice(), b"private" | b"secret-key") => {
                once(&mut self.kind, utf8(&value)?, name)
            }
            "type" => Err(malformed("type is neither private nor secret-key")),
            _ => Err(unknown(name)),
        }
    }

    /// An attribute after the question mark (RFC 7512 §2.3).
    fn of_query(&mut self, attribute: &str) -> Result<()> {
        let (name, value) = named(attribute)?;
        match name {
            "module-path" => once(&mut self.module, absolute(&value, name)?, name),
            "pin-source" => {
                // A file URI of this machine (RFC 8089 §2), or a path.
                let file = match value.strip_prefix(b"file:") {
                    Some(rest) => rest.strip_prefix(b"//").unwrap_or(rest),
                    None => value.as_slice(),
                };
                once(&mut self.pin_source, absolute(file, name)?, name)
            }
            // A command line can be seen by others, and a settings file is copied.
            "pin-value" => Err(Error::bad_request("hsm-pin-in-uri")),
            _ => Err(unknown(name)),
        }
    }
}

/// The name and the decoded value of an attribute.
fn named(attribute: &str) -> Result<(&str, Vec<u8>)> {
    let (name, value) = attribute
        .split_once('=')
        .ok_or_else(|| malformed("an attribute has no value"))?;
    let value = decoded(value).ok_or_else(|| malformed("a % is not followed by two digits"))?;
    if value.is_empty() {
        return Err(malformed("an attribute is empty"));
    }
    Ok((name, value))
}

/// Percent-decodes (RFC 3986 §2.1).
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let digits = digits.map(|digit| char::from(digit).to_digit(16));
                let [Some(high), Some(low)] = digits else {
                    return None;
                };
                u8::try_from((high << 4) | low).ok()?
            }
            other => other,
        });
    }
    Some(decoded)
}

fn utf8(value: &[u8]) -> Result<String> {
    match std::str::from_utf8(value) {
        Ok(text) if !text.contains('\0') => Ok(text.to_owned()),
        _ => Err(malformed("an attribute is not UTF-8 text")),
    }
}

fn absolute(value: &[u8], name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(utf8(value)?);
    match path.is_absolute() {
        true => Ok(path),
        false => Err(Error::bad_request("hsm-uri-path").with("name", name)),
    }
}

/// An attribute may appear once (RFC 7512 §2.3).
fn once<T>(place: &mut Option<T>, value: T, name: &str) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(malformed(&format!("{name} appears twice"))),
    }
}

fn malformed(why: &str) -> Error {
    Error::bad_request("hsm-uri-malformed").with("detail", why)
}

fn unknown(name: &str) -> Error {
    let short: String = name.chars().take(32).collect();
    malformed(&format!("the attribute {short} is not supported"))
}

impl fmt::Display for TokenQuery {
    /// What the token is called, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let serial = self
            .serial
            .as_ref()
            .map(|serial| format!("serial {serial}"));
        let parts = [&self.label, &serial, &self.manufacturer, &self.model];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for KeyQuery {
    /// What the key is called, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |id: &Vec<u8>| format!("id {}", selfsame_crypto::encoding::hex_encode(id));
        let id = self.id.as_ref().map(hex);
        let parts = self.label.iter().chain(&id);
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<TokenUri>().unwrap_err().to_string()
    }

    #[test]
    fn a_uri_names_module_token_key_and_the_file_of_the_pin() {
        let text = "pkcs11:token=The%20clinic;serial=ab12;object=issuer;id=%01%ff?module-path=/usr/lib/m.so&pin-source=file:/etc/pin";
        let uri: TokenUri = text.parse().unwrap();
        assert_eq!(uri.module, PathBuf::from("/usr/lib/m.so"));
        assert_eq!(uri.token.label.as_deref(), Some("The clinic"));
        assert_eq!(uri.token.to_string(), "The clinic, serial ab12");
        assert_eq!(uri.key.label.as_deref(), Some("issuer"));
        assert_eq!(uri.key.id.as_deref(), Some([1, 255].as_slice()));
        assert_eq!(uri.key.to_string(), "issuer, id 01ff");
        assert_eq!(uri.pin_source, Some(PathBuf::from("/etc/pin")));
        for source in ["/etc/pin", "file:///etc/pin"] {
            let text = format!("PKCS11:token=a?pin-source={source}&module-path=/m.so");
            let uri: TokenUri = text.parse().unwrap();
            assert_eq!(uri.pin_source, Some(PathBuf::from("/etc/pin")));
            assert!(uri.key.is_empty());
        }
        let uri: TokenUri = "pkcs11:token=a?pin-source=//etc/pin&module-path=/m.so"
            .parse()
            .unwrap();
        assert_eq!(uri.pin_source, Some(PathBuf::from("//etc/pin")));
    }

    #[test]
    fn a_uri_that_could_mean_something_else_is_refused() {
        let module = "?module-path=/m.so";
        for (text, why) in [
            ("token=a".to_owned(), "begin with"),
            ("pkcs11:token=a".to_owned(), "module-path is missing"),
            (format!("pkcs11:{module}"), "names no token"),
            (format!("pkcs11:token=a;token=b{module}"), "twice"),
            (format!("pkcs11:token=a;slot-id=1{module}"), "slot-id"),
            (format!("pkcs11:token=a;x-y=1{module}"), "x-y"),
            (format!("pkcs11:token=a;type=cert{module}"), "type"),
            (format!("pkcs11:token=%4{module}"), "digits"),
            (format!("pkcs11:token=%ff{module}"), "UTF-8"),
            (format!("pkcs11:token=%00{module}"), "UTF-8"),
            (format!("pkcs11:token={module}"), "empty"),
            (format!("pkcs11:token{module}"), "no value"),
            ("pkcs11:token=a?module-path=m.so".to_owned(), "hsm-uri-path"),
            (
                format!("pkcs11:token=a{module}&pin-source=pin"),
                "hsm-uri-path",
            ),
            (
                format!("pkcs11:token=a{module}&module-name=m"),
                "module-name",
            ),
            (
                format!("pkcs11:token={}{module}", "a".repeat(LONGEST)),
                "too long",
            ),
        ] {
            let said = refused(&text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn a_pin_in_a_uri_is_refused_and_not_shown() {
        let said = refused("pkcs11:token=a?module-path=/m.so&pin-value=1234");
        assert!(said.contains("hsm-pin-in-uri"), "{said}");
        assert!(!said.contains("1234"), "{said}");
    }
}
