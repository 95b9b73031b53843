//! Lists of languages in requests (OpenID Connect Core §3.1.2.1).

/// The maximum number of languages that are looked at.
const MAX: usize = 8;
/// The longest language tag, in bytes.
const MAX_TAG: usize = 35;

/// The language tags of a parameter, best first. What is no tag is left out: an unknown language is no error.
#[must_use]
pub fn languages(text: &str) -> Vec<String> {
    let is_tag = |tag: &&str| {
        !tag.is_empty()
            && tag.len() <= MAX_TAG
            && tag
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let tags = text.split(' ').filter(is_tag).take(MAX);
    tags.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_language_tag_is_left_out() {
        assert_eq!(languages("fr-CA  <b> fr en"), ["fr-CA", "fr", "en"]);
    }
}
