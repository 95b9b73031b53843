//! The formats that a type names.

use selfsame_credential::Format;
use serde::{Deserialize, Serialize};

/// The name of AnonCreds among the formats of a type.
pub const ANONCREDS: &str = "anoncreds";

/// The formats that a type names: those issued over OpenID4VCI, and AnonCreds, which is published to the registry. A
/// type that names none is issued in all formats for people that every type can have.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Vec<String>", into = "Vec<&'static str>")]
pub struct TypeFormats {
    /// Those issued over OpenID4VCI, in their order.
    pub issued: Vec<Format>,
    /// Whether AnonCreds is among them.
    pub anoncreds: bool,
}

impl TypeFormats {
    /// Whether the type names none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.issued.is_empty() && !self.anoncreds
    }

    /// Whether credentials are issued in this format.
    #[must_use]
    pub fn includes(&self, format: Format) -> bool {
        match self.is_empty() {
            true => Format::of_any_type().any(|known| known == format),
            false => self.issued.contains(&format),
        }
    }

    /// The formats in which credentials are issued: those named, or all that need not be named if none is.
    pub fn offered(&self) -> impl Iterator<Item = Format> {
        let all = self.is_empty().then(Format::of_any_type);
        let all = all.into_iter().flatten();
        all.chain(self.issued.iter().copied())
    }
}

impl From<Vec<Format>> for TypeFormats {
    fn from(issued: Vec<Format>) -> Self {
        Self {
            issued,
            anoncreds: false,
        }
    }
}

impl From<TypeFormats> for Vec<&'static str> {
    fn from(formats: TypeFormats) -> Self {
        let anoncreds = formats.anoncreds.then_some(ANONCREDS);
        let issued = formats.issued.into_iter().map(Format::as_str);
        issued.chain(anoncreds).collect()
    }
}

impl TryFrom<Vec<String>> for TypeFormats {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        let mut formats = Self::default();
        for name in names {
            match name.parse() {
                Ok(format) => formats.issued.push(format),
                Err(_) if name == ANONCREDS => formats.anoncreds = true,
                Err(_) => {
                    let shown: String = name.chars().take(40).collect();
                    let known = Format::names();
                    return Err(format!(
                        "unknown format `{shown}`, expected one of {known}, {ANONCREDS}"
                    ));
                }
            }
        }
        Ok(formats)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(names: serde_json::Value) -> Result<TypeFormats, String> {
        serde_json::from_value(names).map_err(|error| error.to_string())
    }

    #[test]
    fn a_type_that_names_none_is_issued_in_all_formats_for_people() {
        let none = read(json!([])).unwrap();
        assert!(!none.anoncreds);
        assert!(none.offered().eq(Format::of_any_type()));
        for named_alone in [Format::Cwt, Format::MsoMdoc, Format::LdpVc] {
            assert!(!none.includes(named_alone));
        }
    }

    #[test]
    fn a_type_that_names_anoncreds_alone_is_not_issued_over_openid() {
        let alone = read(json!(["anoncreds"])).unwrap();
        assert!(!Format::ALL.into_iter().any(|format| alone.includes(format)));
        assert_eq!(alone.offered().count(), 0);
        assert_eq!(serde_json::to_value(&alone).unwrap(), json!(["anoncreds"]));
    }

    #[test]
    fn formats_keep_their_order_and_anoncreds_comes_last() {
        let read = read(json!(["anoncreds", "vc+jwt", "dc+sd-jwt"])).unwrap();
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written, json!(["vc+jwt", "dc+sd-jwt", "anoncreds"]));
    }

    #[test]
    fn an_unknown_format_is_refused_with_those_that_are_known() {
        let refused = read(json!(["jwt_vc_json-ld"])).unwrap_err();
        assert!(
            refused.contains("jwt_vc_json-ld") && refused.contains("mso_mdoc, anoncreds"),
            "{refused}"
        );
    }
}
