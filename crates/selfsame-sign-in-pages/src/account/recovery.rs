//! Recovery words, a copy of the cards under them, and a wallet that is restored from it.

use askama::Template;

/// The content of the page of recovery.
#[derive(Template)]
#[template(path = "recovery.html")]
pub struct RecoveryContent {
    /// The form token.
    pub form: String,
    /// New words, which are shown once; empty without any.
    pub words: Vec<String>,
    /// The largest copy that the page takes.
    pub megabytes: usize,
    /// What the person can correct.
    pub problem: Option<String>,
}

/// The content of the page that says what was restored.
#[derive(Template)]
#[template(path = "restored.html")]
pub struct RestoredContent {
    /// The cards that were restored.
    pub stored: usize,
    /// The cards that were there before.
    pub known: usize,
    /// How many lines were refused.
    pub refused_count: usize,
    /// The first of them.
    pub refused: Vec<RefusedRow>,
    /// Whether the copy has its end.
    pub is_complete: bool,
}

/// A line that was refused.
pub struct RefusedRow {
    /// Its number.
    pub line: usize,
    /// Why.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> RecoveryContent {
        RecoveryContent {
            form: "token".to_owned(),
            words: Vec::new(),
            megabytes: 8,
            problem: None,
        }
    }

    #[test]
    fn new_words_are_numbered_and_no_other_page_has_any() {
        let words = RecoveryContent {
            words: ["able", "acid"].map(str::to_owned).into(),
            ..content()
        };
        let page = words.render().unwrap();
        assert!(page.contains("<li>able</li>") && page.contains("<li>acid</li>"));
        assert!(!content().render().unwrap().contains("<li>"));
    }

    #[test]
    fn what_was_restored_is_counted_and_refused_lines_are_named() {
        let restored = RestoredContent {
            stored: 1,
            known: 2,
            refused_count: 1,
            refused: vec![RefusedRow {
                line: 7,
                why: "<it>".to_owned(),
            }],
            is_complete: false,
        };
        let page = restored.render().unwrap();
        assert!(page.contains("1 card is restored") && page.contains("2 cards were"));
        assert!(page.contains("Line 7: &#60;it&#62;"), "{page}");
        assert!(page.contains("cut off"));
    }
}
