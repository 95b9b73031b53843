//! Credential formats: each has a folder in a crate, and code elsewhere asks the table of formats what a format can do.
//! A format that is named in other code is a finding.

use crate::{source::Source, workspace::Workspace};

use super::{Finding, layers};

/// The table of formats. The folders in the folder of the same name are the formats.
const TABLE: &str = "crates/selfsame-credential/src/format.rs";
/// Where formats may be named: below this path, for this reason.
const ALLOWED: [(&str, &str); 6] = [
    ("crates/selfsame-credential/src/format", "the formats"),
    (
        "crates/selfsame-credential/src/w3c.rs",
        "the media types of W3C's data models",
    ),
    (
        "crates/selfsame-status/src/bitstring.rs",
        "the media type of a list",
    ),
    (
        "crates/selfsame-tls/src/identity/jose.rs",
        "the numbers of formats in TLS",
    ),
    (
        "crates/selfsame-wire/src/rules.rs",
        "the members that are kept of messages, formats among them",
    ),
    (
        "crates/selfsame-bench/src/",
        "a measurement names the formats that it compares",
    ),
];

/// A format: its member of the enum, and its identifier on the wire.
#[derive(Debug, Eq, PartialEq)]
struct Named<'a> {
    member: &'a str,
    identifier: &'a str,
}

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let table = workspace.text(TABLE).unwrap_or_default();
    let formats = formats(table);
    let product = workspace.sources.iter();
    let product = product.filter(|source| !source.test_only && !layers::is_aside(&source.package));
    let named: Vec<Finding> = product
        .flat_map(|source| check_source(source, &formats))
        .collect();
    let mut findings = Vec::new();
    if formats.is_empty() {
        findings.push(Finding::new(
            TABLE,
            "the table of formats can't be read here",
        ));
    }
    for (path, _) in ALLOWED {
        if !named.iter().any(|finding| finding.path.starts_with(path)) {
            let message = format!("{path} names no format: take it out of formats.rs");
            findings.push(Finding::new("xtask/src/tidy/formats.rs", message));
        }
    }
    let elsewhere = named.into_iter();
    findings.extend(elsewhere.filter(|finding| {
        let mut allowed = ALLOWED.iter();
        !allowed.any(|(allowed, _)| finding.path.starts_with(allowed))
    }));
    findings
}

/// The formats in the text of the table: each member stands below the attribute that names it on the wire.
fn formats(table: &str) -> Vec<Named<'_>> {
    let lines: Vec<&str> = table.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter_map(|pair| match pair {
        [attribute, member] => Some(Named {
            identifier: attribute
                .strip_prefix("#[serde(rename = \"")?
                .strip_suffix("\")]")?,
            member: member.strip_suffix(',')?,
        }),
        _ => None,
    });
    pairs.collect()
}

/// Where code names a format, by its member or by its identifier.
fn check_source(source: &Source, formats: &[Named<'_>]) -> Vec<Finding> {
    let of_member = |path: &str| {
        let member = path.rsplit_once("::").map(|(before, last)| {
            let of = before.rsplit("::").next().unwrap_or_default();
            (of, last)
        });
        formats
            .iter()
            .find(|format| member == Some(("Format", format.member)))
    };
    let members = source.paths.iter();
    let members = members.filter_map(|(path, line)| Some((of_member(path)?, *line)));
    let of_identifier = |text: &str| formats.iter().find(|format| format.identifier == text);
    let literals = source.literals.iter();
    let literals =
        literals.filter_map(|literal| Some((of_identifier(&literal.text)?, literal.line)));
    let found = members.chain(literals).map(|(format, line)| {
        let message = format!(
            "this names the credential format {}: ask `Format::describe` what is meant, or move it into the folder of \
             the format",
            format.identifier
        );
        Finding::at(&source.path, line, message)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "pub enum Format {\n    /// SD-JWT VC.\n    #[serde(rename = \"dc+sd-jwt\")]\n    SdJwtVc,\n}";

    fn lines(text: &str) -> Vec<usize> {
        let source = Source::parse("x", "crates/x", "crates/x/src/a.rs", text).unwrap();
        let findings = check_source(&source, &formats(TABLE));
        findings.iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn the_formats_are_read_from_their_table() {
        let format = Named {
            member: "SdJwtVc",
            identifier: "dc+sd-jwt",
        };
        assert_eq!(formats(TABLE), [format]);
    }

    #[test]
    fn a_format_named_by_its_member_or_its_identifier_is_found() {
        assert_eq!(lines("fn f() -> Format {\n Format::SdJwtVc }"), [2]);
        assert_eq!(
            lines("fn f(a: Format) -> u8 { match a { crate::Format::SdJwtVc => 1, _ => 2 } }"),
            [1]
        );
        assert_eq!(lines("const A: &str =\n\"dc+sd-jwt\";"), [2]);
    }

    #[test]
    fn sentences_other_members_and_tests_name_no_format() {
        for text in [
            "const HINT: &str = \"such as dc+sd-jwt\";",
            "fn f() -> Profile { Profile::SdJwtVc }",
            "fn f() -> usize { Format::ALL.len() }",
            "#[cfg(test)]\nmod tests { const A: Format = Format::SdJwtVc; }",
        ] {
            assert_eq!(lines(text), [0; 0], "{text}");
        }
    }
}
