//! What every page of an agent has: where its links lead, the token of its forms, and what the person may do.

/// What every page of an agent has.
#[derive(Clone, Debug, Default)]
pub struct PageBase {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// The form token.
    pub form: String,
    /// What the person may do.
    pub rights: PageRights,
}

/// What a person may do with an agent.
#[allow(clippy::struct_excessive_bools, reason = "each is a right of its own")]
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRights {
    /// See connections and invitations.
    pub connections: bool,
    /// Make and change them.
    pub connect: bool,
    /// See what is issued, and the registries.
    pub issued: bool,
    /// Issue and revoke.
    pub revoke: bool,
    /// See what is presented.
    pub proofs: bool,
    /// Ask for proofs.
    pub ask: bool,
}

impl PageRights {
    /// Every right.
    pub const ALL: Self = Self {
        connections: true,
        connect: true,
        issued: true,
        revoke: true,
        proofs: true,
        ask: true,
    };
}

/// A field of a form that has to be corrected.
#[derive(Clone, Debug, Default)]
pub struct WrongEntry {
    /// The field's name.
    pub field: String,
    /// What is wrong, as a sentence.
    pub told: String,
}

impl WrongEntry {
    /// A field with what is wrong, and what can be done about it.
    #[must_use]
    pub fn of(field: &str, text: &str, hint: Option<&str>) -> Self {
        let sentences = [Some(text), hint].into_iter().flatten().map(sentence);
        Self {
            field: field.to_owned(),
            told: sentences.collect::<Vec<_>>().join(" "),
        }
    }

    /// Whether anything is wrong.
    #[must_use]
    pub fn is_any(&self) -> bool {
        !self.field.is_empty()
    }

    /// Whether it is about this field.
    pub(crate) fn is_at(&self, field: &str) -> bool {
        self.field == field
    }
}

/// A text as a complete sentence.
fn sentence(text: &str) -> String {
    let text = text.replace('`', "");
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let end = if text.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_sentences() {
        let wrong = WrongEntry::of("invitation", "there is no `oob`", Some("paste it all"));
        assert_eq!(wrong.told, "There is no oob. Paste it all.");
        assert!(wrong.is_at("invitation") && !wrong.is_at("alias"));
    }
}
