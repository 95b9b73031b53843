//! JSON-LD contexts that an operator adds to the bundled ones. Each is pinned by its digest, and none is ever fetched.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_data_integrity::{Contexts, OwnContext};
use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};

/// A context of an operator.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedContext {
    /// Its URL, as documents name it.
    pub url: String,
    /// What is served there; in a settings file, the path to it.
    pub file: String,
    /// The SHA-256 of that, in lower-case hex.
    pub sha256: String,
}

/// The bundled contexts and these.
///
/// # Errors
/// `BadRequest`, naming the context, for one whose digest is another, or that the library refuses.
pub fn known_contexts(pinned: &[PinnedContext]) -> Result<Contexts> {
    for one in pinned {
        let found = hex_encode(&sha256(one.file.as_bytes()));
        if found != one.sha256 {
            return Err(Error::bad_request("context-digest")
                .with("url", &one.url)
                .with("found", &found));
        }
    }
    let mut known = Contexts::bundled();
    let mut own: Vec<OwnContext<'_>> = Vec::with_capacity(pinned.len());
    for one in pinned {
        own.push(OwnContext {
            url: &one.url,
            text: one.file.as_bytes(),
        });
        known = Contexts::with(&own).map_err(|error| {
            Error::bad_request("context-refused")
                .with("url", &one.url)
                .with("detail", &error)
        })?;
    }
    Ok(known)
}

/// Makes these contexts those of the process.
///
/// # Errors
/// As [`known_contexts`]; `BadRequest` if the process has settled on others.
pub(crate) fn settle(pinned: &[PinnedContext]) -> Result<()> {
    if pinned.is_empty() || known_contexts(pinned)?.settle() {
        return Ok(());
    }
    Err(Error::bad_request("contexts-settled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(url: &str, text: &str) -> PinnedContext {
        PinnedContext {
            url: url.to_owned(),
            file: text.to_owned(),
            sha256: hex_encode(&sha256(text.as_bytes())),
        }
    }

    fn refused(pinned: &[PinnedContext]) -> String {
        known_contexts(pinned).unwrap_err().reason.id().to_owned()
    }

    const URL: &str = "https://office.example/permit/v1";

    #[test]
    fn a_pinned_context_is_known_beside_the_bundled_ones() {
        let text = r#"{"@context": {"degree": "https://office.example/terms#degree"}}"#;
        let own = [pinned(URL, text)];
        let known = known_contexts(&own).unwrap();
        assert!(known.knows(URL) && known.knows("https://www.w3.org/ns/credentials/v2"));
        assert!(known.defines(URL, "degree"));
        // It may name one that stands before it.
        let second = format!(r#"{{"@context": ["{URL}", {{"b": "https://office.example/b"}}]}}"#);
        let both = [
            own[0].clone(),
            pinned("https://office.example/more", &second),
        ];
        assert!(known_contexts(&both).is_ok());
    }

    #[test]
    fn a_context_with_another_digest_is_refused() {
        let mut other = pinned(URL, r#"{"@context": {"a": "https://office.example/a"}}"#);
        other.file.push(' ');
        assert_eq!(refused(&[other]), "context-digest");
    }

    #[test]
    fn a_context_that_takes_the_place_of_another_or_redefines_a_protected_term_is_refused() {
        let text = r#"{"@context": {"a": "https://office.example/a"}}"#;
        for own in [
            vec![pinned("https://www.w3.org/ns/credentials/v2", text)],
            vec![pinned(URL, text), pinned(URL, text)],
            vec![pinned(
                URL,
                r#"{"@context": {"name": "https://office.example/name"}}"#,
            )],
            vec![pinned(
                URL,
                r#"{"@context": "https://office.example/unknown"}"#,
            )],
            vec![pinned(URL, "{}")],
        ] {
            assert_eq!(refused(&own), "context-refused", "{own:?}");
        }
    }

    #[test]
    fn nothing_is_settled_without_a_context() {
        assert!(settle(&[]).is_ok());
    }
}
