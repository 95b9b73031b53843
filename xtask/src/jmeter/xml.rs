//! The XML of test plans: elements with the place of their text, so that a value can be replaced and every other byte
//! stays as it is.

use std::ops::Range;

/// An element deeper than this is not read. Plans have 15 levels.
const DEEPEST: usize = 64;

/// An element.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    /// The names and the values of the attributes, without quotes and with their entities.
    attributes: Vec<(String, String)>,
    /// Where the text is before the first child; all of it in an element without children.
    pub text: Range<usize>,
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

/// Parses a document. Document types and CDATA sections are refused: no plan has them.
pub fn parse(text: &str) -> Result<Element, String> {
    let mut open: Vec<Element> = Vec::new();
    let mut at = 0;
    while let Some(tag) = next_tag(text, at)? {
        at = tag.at.end;
        let inside = text.get(tag.at.start + 1..at - 1).unwrap_or_default();
        let ended = if let Some(name) = inside.strip_prefix('/') {
            let mut element = open.pop().ok_or("an element ends that did not begin")?;
            if element.name != name.trim_end() {
                return Err(format!("<{}> ends with </{name}>", element.name));
            }
            if element.children.is_empty() {
                element.text.end = tag.at.start;
            }
            Some(element)
        } else {
            if let Some(parent) = open.last_mut().filter(|one| one.children.is_empty()) {
                parent.text.end = tag.at.start;
            }
            let element = begun(inside, at)?;
            if inside.ends_with('/') {
                Some(element)
            } else if open.len() == DEEPEST {
                return Err(format!("more than {DEEPEST} levels of elements"));
            } else {
                open.push(element);
                None
            }
        };
        match (ended, open.last_mut()) {
            (Some(element), Some(parent)) => parent.children.push(element),
            (Some(root), None) => return Ok(root),
            (None, _) => {}
        }
    }
    Err(match open.last() {
        Some(element) => format!("<{}> does not end", element.name),
        None => "it has no element".to_owned(),
    })
}

/// A tag, with its angle brackets.
struct Tag {
    at: Range<usize>,
}

/// The next tag of an element.
fn next_tag(text: &str, from: usize) -> Result<Option<Tag>, String> {
    let mut from = from;
    loop {
        let rest = text.get(from..).unwrap_or_default();
        let Some(start) = rest.find('<') else {
            return Ok(None);
        };
        let (start, rest) = (from + start, rest.get(start..).unwrap_or_default());
        let skipped = if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<!") {
            return Err("it has a document type or a CDATA section".to_owned());
        } else {
            let end = tag_length(rest).ok_or("a tag does not end")?;
            return Ok(Some(Tag {
                at: start..start + end,
            }));
        };
        let end = rest.find(skipped).ok_or("a comment does not end")?;
        from = start + end + skipped.len();
    }
}

/// The length of the tag that a text begins with. A bracket in a quoted value does not end it.
fn tag_length(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at + 1),
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

/// The element of a start tag without its brackets, whose text begins here.
fn begun(inside: &str, text: usize) -> Result<Element, String> {
    let inside = inside.trim_end_matches('/').trim_end();
    let name = inside.split_whitespace().next().unwrap_or_default();
    let mut rest = inside.get(name.len()..).unwrap_or_default().trim_start();
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let wrong = || format!("an attribute of <{name}> is not well-formed");
        let (attribute, value) = rest.split_once('=').ok_or_else(wrong)?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|one| matches!(one, '"' | '\''));
        let quote = quote.ok_or_else(wrong)?;
        let (value, more) = value
            .get(1..)
            .unwrap_or_default()
            .split_once(quote)
            .ok_or_else(wrong)?;
        attributes.push((attribute.trim_end().to_owned(), value.to_owned()));
        rest = more.trim_start();
    }
    Ok(Element {
        name: name.to_owned(),
        attributes,
        text: text..text,
        children: Vec::new(),
    })
}

/// A text without its entities.
pub fn decoded(text: &str) -> Result<String, String> {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, entity)) = rest.split_once('&') {
        all.push_str(before);
        let (name, after) = entity.split_once(';').ok_or("an entity does not end")?;
        all.push(character(name).ok_or_else(|| format!("&{name}; is not known"))?);
        rest = after;
    }
    all.push_str(rest);
    Ok(all)
}

fn character(entity: &str) -> Option<char> {
    let code = match entity {
        "amp" => return Some('&'),
        "apos" => return Some('\''),
        "gt" => return Some('>'),
        "lt" => return Some('<'),
        "quot" => return Some('"'),
        other => other.strip_prefix('#')?,
    };
    let code = match code.strip_prefix('x') {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => code.parse(),
    };
    char::from_u32(code.ok()?)
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
        let text = "&quot;a&quot; &amp;&#38;&#x26; &lt;&gt;&apos;&#xd;";
        assert_eq!(decoded(text).unwrap(), "\"a\" &&& <>'\r");
        for wrong in ["&nbsp;", "&", "&#xd800;", "&#;"] {
            assert!(decoded(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        let deep = "<a>".repeat(DEEPEST + 1);
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
            "<a><![CDATA[x]]></a>",
            "<!-- <a/>",
            &deep,
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
