//! Host names of organisations that have addresses of their own.

use std::fmt;

use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::name::skeleton;

/// Maximum length of a host name (RFC 1035 §2.3.4, without the dots at both ends of the wire form).
const MAX: usize = 253;
/// Maximum length of a label (RFC 1035 §2.3.4).
const LABEL_MAX: usize = 63;
/// What names end with that mean this machine (RFC 6761 §6.3).
const LOCALHOST: &str = ".localhost";
/// What labels begin with that stand for letters beyond ASCII (RFC 5890 §2.3.2.1).
const A_LABEL: &str = "xn--";

/// A DNS name in lower case, of two labels at least.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

impl HostName {
    /// Parses a host name: no address, no port, no dot at the end, and A-labels for letters beyond ASCII.
    ///
    /// # Errors
    /// `BadRequest` for everything else.
    pub fn parse(text: &str) -> Result<Self> {
        let fits = text.len() <= MAX && text.contains('.') && text.split('.').all(is_label);
        // The URL parser takes numbers for addresses, and refuses A-labels that stand for nothing.
        let is_name = || matches!(Host::parse(text), Ok(Host::Domain(name)) if name == text);
        match fits && is_name() {
            true => Ok(Self(text.to_owned())),
            false => Err(Error::bad_request("organisation-host-malformed").with("maximum", &MAX)),
        }
    }

    /// Parses the host name of an organisation that is to be created, on the instance at this origin.
    ///
    /// # Errors
    /// As [`Self::parse`], and `BadRequest` for a name that is the instance's or looks like it, and for one that can't be
    /// called as the instance is: a name of this machine on an instance for others, or the other way round.
    pub fn for_new(text: &str, origin: &Url) -> Result<Self> {
        let name = Self::parse(text)?;
        let instance = origin.host_str().unwrap_or_default();
        if skeleton_of(instance) == name.skeleton() {
            return Err(Error::bad_request("organisation-host-of-instance").with("host", instance));
        }
        match name.is_local() == is_loopback(origin) {
            true => Ok(name),
            false => Err(Error::bad_request("organisation-host-unreachable")
                .with("host", &name)
                .with("origin", origin)),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two names have in common that people can take for each other. A label with letters beyond ASCII counts as it
    /// is.
    #[must_use]
    pub fn skeleton(&self) -> String {
        skeleton_of(&self.0)
    }

    /// The origin at this host of the instance with this origin: its scheme and its port.
    ///
    /// # Errors
    /// `Internal` for an origin that can't have a host.
    pub fn beside(&self, origin: &Url) -> Result<Url> {
        let mut own = origin.clone();
        own.set_host(Some(&self.0)).map_err(Error::internal)?;
        Ok(own)
    }

    /// Whether it means this machine, whatever a name server says.
    fn is_local(&self) -> bool {
        self.0.ends_with(LOCALHOST)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for HostName {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

fn is_label(label: &str) -> bool {
    let is_letter = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=LABEL_MAX).contains(&label.len())
        && label.bytes().all(is_letter)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn skeleton_of(host: &str) -> String {
    let labels = host.split('.').map(|label| match label {
        _ if label.starts_with(A_LABEL) => label.to_owned(),
        label => skeleton(label),
    });
    labels.collect::<Vec<_>>().join(".")
}

fn is_loopback(origin: &Url) -> bool {
    match origin.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(LOCALHOST),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_new(text: &str, origin: &str) -> std::result::Result<String, String> {
        let made = HostName::for_new(text, &Url::parse(origin).unwrap());
        made.map(String::from)
            .map_err(|error| error.reason.id().to_owned())
    }

    #[test]
    fn a_host_name_is_a_dns_name_in_lower_case() {
        let long = format!("{}.example", vec!["a".repeat(61); 4].join("."));
        for right in [
            "id.clinic.example",
            "clinic.example",
            "xn--mnchen-3ya.example",
            "1.example",
        ] {
            assert!(HostName::parse(right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "clinic",
            "localhost",
            "Clinic.example",
            "clinic.example.",
            ".clinic.example",
            "clinic..example",
            "clinic.example:443",
            "https://clinic.example",
            "clinic.example/",
            "user@clinic.example",
            "münchen.example",
            "xn--99999999.example",
            "-a.example",
            "a-.example",
            "a_b.example",
            "*.clinic.example",
            "192.0.2.1",
            "1.2",
            "0x7f.1",
            "[::1]",
            "::1",
            &format!("{}.example", "a".repeat(64)),
            &long,
        ] {
            let refused = HostName::parse(wrong).expect_err(wrong);
            assert_eq!(
                refused.reason.id(),
                "organisation-host-malformed",
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_new_host_name_is_not_the_instances_and_is_called_as_the_instance_is() {
        let (public, local) = ("https://id.example/", "http://127.0.0.1:7380/");
        assert!(for_new("id.clinic.example", public).is_ok());
        assert!(for_new("clinic.id.example", public).is_ok());
        assert!(for_new("id.clinic.localhost", local).is_ok());
        assert!(for_new("id.clinic.localhost", "https://localhost:7380/").is_ok());
        for (text, origin, reason) in [
            ("id.example", public, "organisation-host-of-instance"),
            ("1d.example", public, "organisation-host-of-instance"),
            (
                "id.clinic.localhost",
                public,
                "organisation-host-unreachable",
            ),
            ("id.clinic.example", local, "organisation-host-unreachable"),
        ] {
            assert_eq!(for_new(text, origin), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        let skeleton = |name| HostName::parse(name).unwrap().skeleton();
        assert_eq!(skeleton("id.clinic.example"), skeleton("id.c1inic.example"));
        assert_ne!(skeleton("id.clinic.example"), skeleton("idclinic.example"));
        let (one, other) = ("xn--mnchen-3ya.example", "xn--mnchen3ya.example");
        assert_ne!(skeleton_of(one), skeleton_of(other));
    }

    #[test]
    fn the_origin_at_a_host_has_the_scheme_and_the_port_of_the_instance() {
        let name = HostName::parse("id.clinic.localhost").unwrap();
        let own = name.beside(&Url::parse("http://127.0.0.1:7380/").unwrap());
        assert_eq!(own.unwrap().as_str(), "http://id.clinic.localhost:7380/");
    }
}
