//! Name constraints of authorities (RFC 5280 §4.2.1.10), applied more broadly than the specification requires.

use webpki::VerifiedPath;

use super::key_usage::extension;
use crate::der;

/// id-ce-nameConstraints, 2.5.29.30.
const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x1e];
const PERMITTED: u8 = 0xa0;
const EXCLUDED: u8 = 0xa1;
const DNS_NAME: u8 = 0x82;

/// Whether each authority above the first certificate may certify the host of each of its URIs.
///
/// RFC 5280 §4.2.1.10 keeps constraints on URIs apart from those on DNS names, and authorities state only the latter.
/// Here an issuer's URI speaks for its host, so an authority constrained to some DNS names could speak for all others
/// by URIs. Therefore constraints on DNS names also apply to the hosts of URIs, which is stricter than the paragraph. A
/// URI without a comparable host is outside every permitted subtree.
pub(super) fn allow_uris(path: &VerifiedPath<'_>, anchor: Option<&[u8]>) -> bool {
    let uris: Vec<&str> = path.end_entity().valid_uri_names().collect();
    if uris.is_empty() {
        return true;
    }
    let above = path.intermediate_certificates();
    let mut above = above.map(|certificate| allow(&certificate.der(), &uris));
    above.all(|holds| holds) && anchor.is_some_and(|anchor| allow(anchor, &uris))
}

/// Constraints that cannot be read permit nothing.
fn allow(authority: &[u8], uris: &[&str]) -> bool {
    match extension(authority, NAME_CONSTRAINTS) {
        Some(None) => true,
        Some(Some(value)) => Constraints::read(value).is_some_and(|stated| stated.allow(uris)),
        None => false,
    }
}

/// The permitted and excluded subtrees of DNS names.
struct Constraints<'a> {
    permitted: Vec<&'a str>,
    excluded: Vec<&'a str>,
}

impl<'a> Constraints<'a> {
    /// `NameConstraints ::= SEQUENCE { permittedSubtrees [0] OPTIONAL, excludedSubtrees [1] OPTIONAL }`.
    fn read(value: &'a [u8]) -> Option<Self> {
        let rest = der::only(value, der::SEQUENCE)?;
        let (permitted, rest) = der::take(rest, PERMITTED).unwrap_or((&[], rest));
        let (excluded, rest) = der::take(rest, EXCLUDED).unwrap_or((&[], rest));
        rest.is_empty().then_some(())?;
        Some(Self {
            permitted: dns_names(permitted)?,
            excluded: dns_names(excluded)?,
        })
    }

    fn allow(&self, uris: &[&str]) -> bool {
        if self.permitted.is_empty() && self.excluded.is_empty() {
            return true;
        }
        let is_within = |trees: &[&str], host: &str| trees.iter().any(|tree| is_in(host, tree));
        uris.iter().all(|uri| {
            host(uri).is_some_and(|host| {
                let is_permitted = self.permitted.is_empty() || is_within(&self.permitted, host);
                is_permitted && !is_within(&self.excluded, host)
            })
        })
    }
}

/// The DNS names of GeneralSubtrees. webpki checks the other kinds of names.
fn dns_names(mut subtrees: &[u8]) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    while !subtrees.is_empty() {
        let (subtree, after) = der::take(subtrees, der::SEQUENCE)?;
        subtrees = after;
        if let Some((name, _)) = der::take(subtree, DNS_NAME) {
            names.push(str::from_utf8(name).ok()?);
        }
    }
    Some(names)
}

/// The host of `scheme://host[:port]…`. `None` for anything ambiguous: user information, backslashes, escapes,
/// addresses.
fn host(uri: &str) -> Option<&str> {
    let (_, rest) = uri.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let last = host.rsplit('.').next()?;
    let is_address = last.bytes().next().is_none_or(|byte| byte.is_ascii_digit());
    let is_plain = host.bytes().all(is_name) && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_plain && !is_address).then_some(host)
}

/// Whether a host is the base of a subtree or below it. A base with a leading dot matches only names below it; an empty
/// base matches every name.
fn is_in(host: &str, base: &str) -> bool {
    if base.is_empty() {
        return true;
    }
    let below = |base: &str| {
        let at = host.len().checked_sub(base.len());
        let tail = at.and_then(|at| host.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(base))
    };
    match base.strip_prefix('.') {
        Some(_) => below(base),
        None => host.eq_ignore_ascii_case(base) || below(&format!(".{base}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_uri_is_one_that_can_be_read_in_one_way_alone() {
        for (uri, expected) in [
            ("https://issuer.example", Some("issuer.example")),
            ("https://issuer.example./a", Some("issuer.example")),
            ("https://Issuer.example:8443/a?b#c", Some("Issuer.example")),
            ("spiffe://trust.example/service", Some("trust.example")),
            ("https://a@issuer.example/", None),
            ("https://other.example\\@issuer.example/", None),
            ("https://issuer%2eexample/", None),
            ("https://192.0.2.1/", None),
            ("https://[2001:db8::1]/", None),
            ("https:///a", None),
            ("https:issuer.example", None),
            ("did:web:issuer.example", None),
            ("urn:example:a", None),
        ] {
            assert_eq!(host(uri), expected, "{uri}");
        }
    }

    #[test]
    fn a_subtree_holds_its_base_and_what_is_below_it() {
        for (host, base, expected) in [
            ("issuer.example", "issuer.example", true),
            ("a.ISSUER.example", "issuer.example", true),
            ("notissuer.example", "issuer.example", false),
            ("example", "issuer.example", false),
            ("issuer.example", ".issuer.example", false),
            ("a.issuer.example", ".issuer.example", true),
            ("anything", "", true),
        ] {
            assert_eq!(is_in(host, base), expected, "{host} {base}");
        }
    }
}
