//! The paths of Presentation Exchange: of JSONPath, members and elements alone.

use selfsame_credential::ClaimPath;
use selfsame_credential::path::Segment;

/// The most steps of a path.
const STEPS_MAX: usize = 16;

/// A path: `$` and then `.name`, `['name']`, `[0]` or `[*]`, any of them several times; `None` if it is another.
pub fn parse(text: &str) -> Option<ClaimPath> {
    let mut rest = text.strip_prefix('$')?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if segments.len() == STEPS_MAX {
            return None;
        }
        let (segment, left) = step(rest)?;
        segments.push(segment);
        rest = left;
    }
    ClaimPath::new(segments).ok()
}

fn step(text: &str) -> Option<(Segment, &str)> {
    if let Some(text) = text.strip_prefix('.').filter(|text| !text.starts_with('[')) {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (name, left) = text.split_at_checked(end)?;
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@' | '#');
        let is_whole = !name.is_empty() && name.chars().all(is_name);
        return is_whole.then(|| (Segment::Name(name.to_owned()), left));
    }
    // RFC 0510 writes a dot before a bracket too.
    let text = text.strip_prefix('.').unwrap_or(text).strip_prefix('[')?;
    for quote in ["'", "\""] {
        if let Some(text) = text.strip_prefix(quote) {
            let (name, left) = text.split_once(quote)?;
            let left = left.strip_prefix(']')?;
            let is_plain = !name.is_empty() && !name.contains('\\');
            return is_plain.then(|| (Segment::Name(name.to_owned()), left));
        }
    }
    let (inner, left) = text.split_once(']')?;
    let segment = match inner {
        "*" => Segment::All,
        number => Segment::Index(number.parse().ok()?),
    };
    Some((segment, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_by_members_and_elements() {
        for (text, display) in [
            ("$.vct", "vct"),
            (
                "$.credentialSubject.patient.name",
                "credentialSubject.patient.name",
            ),
            ("$['given name']", "given name"),
            ("$.results[0].name", "results[0].name"),
            ("$.results[*]['name']", "results[].name"),
            ("$.verifiableCredential.[0]", "verifiableCredential[0]"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), display, "{text}");
        }
    }

    #[test]
    fn other_paths_are_refused() {
        let deep = format!("${}", ".a".repeat(17));
        for text in [
            "",
            "$",
            "a",
            "$..a",
            "$.a[?(@.b)]",
            "$.a[0:2]",
            "$.*",
            "$['a",
            "$['a'",
            "$[-1]",
            "$.a b",
            "$.",
            "$['']",
            &deep,
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
