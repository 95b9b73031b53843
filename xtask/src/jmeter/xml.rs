//! The XML of test plans: elements with the place of their text, so that a value can be replaced and every other byte
//! stays as it is.

use std::ops::Range;

use roxmltree::{Document, Node, ParsingOptions};

/// An element deeper than this is not read. Plans have 15 levels.
const DEEPEST: usize = 64;

/// An element.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    /// The names and the values of the attributes.
    attributes: Vec<(String, String)>,
    /// The text before the first child; all of it in an element without children.
    pub value: String,
    /// Where that is.
    pub text: Range<usize>,
    /// Where the whole element is.
    pub all: Range<usize>,
    pub children: Vec<Element>,
}

/// A text in place of another.
#[derive(Debug)]
pub struct Edit {
    pub at: Range<usize>,
    /// The new text, without entities.
    pub to: String,
}

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The child whose attribute `name` is this. JMeter stores a property of an element as such a child.
    pub fn property(&self, name: &str) -> Option<&Element> {
        let mut children = self.children.iter();
        children.find(|child| child.attribute("name") == Some(name))
    }

    /// All elements below this one that have this name, in the order of the document.
    pub fn below<'e>(&'e self, name: &str, found: &mut Vec<&'e Element>) {
        for child in &self.children {
            if child.name == name {
                found.push(child);
            }
            child.below(name, found);
        }
    }
}

/// Parses a document. One with a document type is refused: no plan has it.
pub fn parse(text: &str) -> Result<Element, String> {
    let document = Document::parse_with_options(text, ParsingOptions::default());
    let document = document.map_err(|error| error.to_string())?;
    read(text, document.root_element(), DEEPEST)
}

/// An element with so many levels at most.
fn read(text: &str, node: Node<'_, '_>, levels: usize) -> Result<Element, String> {
    let deeper = levels.checked_sub(1);
    let deeper = deeper.ok_or_else(|| format!("more than {DEEPEST} levels of elements"))?;
    let attributes = node.attributes();
    let attributes = attributes.map(|one| (one.name().to_owned(), one.value().to_owned()));
    let children = node.children().filter(Node::is_element);
    let children: Result<Vec<Element>, String> =
        children.map(|child| read(text, child, deeper)).collect();
    Ok(Element {
        name: node.tag_name().name().to_owned(),
        attributes: attributes.collect(),
        value: node.text().unwrap_or_default().to_owned(),
        text: place(text, node),
        all: node.range(),
        children: children?,
    })
}

/// Where the text of an element is: before its first child, or between its tags.
fn place(text: &str, node: Node<'_, '_>) -> Range<usize> {
    let first = node.first_child();
    match first {
        Some(first) if first.is_text() => first.range(),
        Some(first) => first.range().start..first.range().start,
        None => {
            let all = node.range();
            let written = text.get(all.clone()).unwrap_or_default();
            let end = written.rfind("</").map_or(all.end, |end| all.start + end);
            end..end
        }
    }
}

/// The document with these edits, which do not overlap.
pub fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at.start);
    let mut all = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        all.push_str(text.get(from..edit.at.start).unwrap_or_default());
        all.push_str(&encoded(&edit.to));
        from = edit.at.end;
    }
    all.push_str(text.get(from..).unwrap_or_default());
    all
}

fn encoded(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "<?xml version=\"1.0\"?>\n<!-- a > b --><a>\n <b name='x' of=\"1 > 0\">one &lt; two</b>\n <b/>\n <c><b name=\"y\"> </b></c>\n</a>\n";

    #[test]
    fn an_element_knows_its_attributes_its_children_and_its_text() {
        let root = parse(TEXT).unwrap();
        let mut found = Vec::new();
        root.below("b", &mut found);
        let texts = found.iter().map(|one| &TEXT[one.text.clone()]);
        assert_eq!(texts.collect::<Vec<_>>(), ["one &lt; two", "", " "]);
        let x = root.property("x").unwrap();
        assert_eq!(x.attribute("of"), Some("1 > 0"));
        assert_eq!(x.attribute("no"), None);
        assert!(root.property("y").is_none());
    }

    #[test]
    fn an_edit_changes_its_text_alone() {
        let root = parse(TEXT).unwrap();
        let at = root.property("x").unwrap().text.clone();
        let to = "a & \"b\" < c".to_owned();
        let edited = edited(TEXT, vec![Edit { at, to }]);
        let expected = TEXT.replace("one &lt; two", "a &amp; &quot;b&quot; &lt; c");
        assert_eq!(edited, expected);
        assert_eq!(super::edited(TEXT, Vec::new()), TEXT);
    }

    #[test]
    fn entities_are_decoded_and_unknown_ones_refused() {
        let text = "<a>&quot;a&quot; &amp;&#38;&#x26; &lt;&gt;&apos;&#xd;</a>";
        assert_eq!(parse(text).unwrap().value, "\"a\" &&& <>'\r");
        for wrong in ["&nbsp;", "&", "&#;"] {
            assert!(parse(&format!("<a>{wrong}</a>")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        let deep = "<a>".repeat(DEEPEST + 1) + &"</a>".repeat(DEEPEST + 1);
        for wrong in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "</a>",
            "<a",
            "<a x></a>",
            "<a x=1></a>",
            "<a x=\"1></a>",
            "<!DOCTYPE a><a/>",
            "<!-- <a/>",
            &deep,
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
