//! Form bodies and query strings, parsed strictly: UTF-8 only, within limits, each parameter at most once.

use std::collections::BTreeMap;

use url::form_urlencoded;

/// The maximum size of a form, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The maximum number of parameters in a form.
pub const MAX_PARAMETERS: usize = 64;

/// The parameters of a form or a query string. Each occurs at most once (RFC 6749 §3.1, §3.2).
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Form(BTreeMap<String, String>);

impl std::fmt::Debug for Form {
    /// Shows only the names: values may be codes, tokens or presentations.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Form {
    /// Parses `application/x-www-form-urlencoded` bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormError> {
        if bytes.len() > MAX_BYTES {
            return Err(FormError::TooBig);
        }
        let mut parameters = BTreeMap::new();
        for pair in bytes.split(|b| *b == b'&').filter(|pair| !pair.is_empty()) {
            if parameters.len() >= MAX_PARAMETERS {
                return Err(FormError::TooBig);
            }
            let mut halves = pair.splitn(2, |b| *b == b'=');
            let name = decode(halves.next().unwrap_or_default())?;
            let value = decode(halves.next().unwrap_or_default())?;
            if parameters.contains_key(&name) {
                return Err(FormError::Repeated);
            }
            parameters.insert(name, value);
        }
        // RFC 6749 §3.1: a parameter without a value is treated as if it had been omitted.
        parameters.retain(|_, value| !value.is_empty());
        Ok(Self(parameters))
    }

    /// Parses the query string of a URL.
    pub fn of_query(query: &str) -> Result<Self, FormError> {
        Self::parse(query.as_bytes())
    }

    /// These parameters, which came in another form than a query. Empty ones count as omitted here too.
    pub fn of_parameters(parameters: impl IntoIterator<Item = (String, String)>) -> Self {
        let given = parameters
            .into_iter()
            .filter(|(_, value)| !value.is_empty());
        Self(given.collect())
    }

    /// The names and values, in order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The parameter's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Removes the parameter and returns its value.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Whether the parameter is present.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// Writes parameters as `application/x-www-form-urlencoded`.
pub fn encode<N: AsRef<str>, V: AsRef<str>>(parameters: &[(N, V)]) -> String {
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        serializer.append_pair(name.as_ref(), value.as_ref());
    }
    serializer.finish()
}

/// Why a form is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FormError {
    /// The form has too many bytes or too many parameters.
    #[error("the form is too big")]
    TooBig,
    /// A parameter occurs more than once.
    #[error("a parameter is repeated")]
    Repeated,
    /// The form has a broken percent-encoding, or bytes that are not UTF-8.
    #[error("the form is not well encoded")]
    Encoding,
}

// `form_urlencoded::parse` replaces bytes that are not UTF-8 and accepts broken escapes. Two parsers could then
// disagree on what a form contains.
fn decode(text: &[u8]) -> Result<String, FormError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => match (rest.next().and_then(nibble), rest.next().and_then(nibble)) {
                (Some(high), Some(low)) => (high << 4) | low,
                _ => return Err(FormError::Encoding),
            },
            other => *other,
        });
    }
    String::from_utf8(bytes).map_err(|_| FormError::Encoding)
}

/// Decodes one form-encoded text.
///
/// # Errors
/// [`FormError::Encoding`].
pub fn decode_text(text: &str) -> Result<String, FormError> {
    decode(text.as_bytes())
}

fn nibble(digit: &u8) -> Option<u8> {
    char::from(*digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_reads_back_as_it_was_written() {
        let text = encode(&[("a b", "ä=&+%"), ("c", "d")]);
        let form = Form::parse(text.as_bytes()).unwrap();
        assert_eq!(form.get("a b"), Some("ä=&+%"));
        assert_eq!(form.get("c"), Some("d"));
        assert_eq!(form.get("e"), None);
    }

    #[test]
    fn a_repeated_parameter_is_refused() {
        assert_eq!(Form::parse(b"a=1&b=2&a=1"), Err(FormError::Repeated));
        assert_eq!(Form::parse(b"a=&a=1"), Err(FormError::Repeated));
        assert_eq!(Form::parse(b"a=1&%61=1"), Err(FormError::Repeated));
    }

    #[test]
    fn a_parameter_without_a_value_counts_as_omitted() {
        assert!(!Form::parse(b"a=&b").unwrap().has("a"));
    }

    #[test]
    fn broken_escapes_and_bytes_that_are_not_utf_8_are_refused() {
        for bad in [
            &b"a=%"[..],
            b"a=%4",
            b"a=%zz",
            b"a=%+1",
            b"%ff=1",
            b"a=\xff",
        ] {
            assert_eq!(Form::parse(bad), Err(FormError::Encoding), "{bad:?}");
        }
    }

    #[test]
    fn a_form_has_limits() {
        let many: Vec<_> = (0..=MAX_PARAMETERS).map(|i| format!("p{i}=1")).collect();
        assert_eq!(
            Form::parse(many.join("&").as_bytes()),
            Err(FormError::TooBig)
        );
        assert_eq!(
            Form::parse(&vec![b'a'; MAX_BYTES + 1]),
            Err(FormError::TooBig)
        );
    }

    #[test]
    fn debug_shows_names_and_no_values() {
        let form = Form::parse(b"tx_code=1234").unwrap();
        assert_eq!(format!("{form:?}"), r#"{"tx_code"}"#);
    }
}
