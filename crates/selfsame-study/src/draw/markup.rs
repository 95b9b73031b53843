//! HTML that is written piece by piece: what is not a literal of this crate is escaped.

use std::fmt::{Arguments, Write as _};

/// A piece of HTML.
#[derive(Debug, Default)]
pub struct Markup(String);

impl Markup {
    /// Adds markup of this crate.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text, escaped for content and attributes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for one in text.chars() {
            match one {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                other => self.0.push(other),
            }
        }
        self
    }

    /// Adds shapes, in which nothing but numbers is filled in.
    pub fn shape(&mut self, shape: Arguments<'_>) -> &mut Self {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(shape);
        self
    }

    /// Adds a whole element: its opening tag, its text, its closing tag.
    pub fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// Adds text in which words between backquotes are code.
    pub fn prose(&mut self, text: &str) -> &mut Self {
        for (place, piece) in text.split('`').enumerate() {
            match place % 2 {
                0 => self.text(piece),
                _ => self.element("<code>", piece, "</code>"),
            };
        }
        self
    }

    /// The whole.
    pub fn done(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_backquotes_are_code() {
        let mut markup = Markup::default();
        markup.raw("<p>").prose("a `b<c>` & \"d\"").raw("</p>");
        let expected = "<p>a <code>b&lt;c&gt;</code> &amp; &quot;d&quot;</p>";
        assert_eq!(markup.done(), expected);
    }
}
