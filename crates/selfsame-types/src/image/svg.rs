//! What an SVG may contain: shapes, texts, colours and pictures within it. A card is shown by wallets of all kinds, so
//! the elements allowed are listed, not those refused.

use roxmltree::{Document, Node, ParsingOptions};
use selfsame_driver::Reason;

const NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// Maximum number of elements, attributes and texts.
const NODES_MAX: u32 = 5_000;
/// `use` is left out: copies of copies grow without bound when they are drawn.
const ELEMENTS: [&str; 26] = [
    "svg",
    "g",
    "defs",
    "title",
    "desc",
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "text",
    "tspan",
    "textPath",
    "linearGradient",
    "radialGradient",
    "stop",
    "clipPath",
    "mask",
    "pattern",
    "marker",
    "symbol",
    "image",
    "style",
    "switch",
];
/// The beginnings of references that lead nowhere else.
const WITHIN: [&str; 4] = [
    "#",
    "data:image/png;base64,",
    "data:image/jpeg;base64,",
    "data:image/webp;base64,",
];

/// Checks that an SVG runs nothing and loads nothing.
pub(super) fn check(bytes: &[u8]) -> Result<(), Reason> {
    let text = str::from_utf8(bytes).map_err(|_| Reason::new("svg-not-xml"))?;
    let options = ParsingOptions {
        // Entities of a document type can grow without bound, and can name files.
        allow_dtd: false,
        nodes_limit: NODES_MAX,
        ..ParsingOptions::default()
    };
    let document =
        Document::parse_with_options(text, options).map_err(|_| Reason::new("svg-not-xml"))?;
    let root = document.root_element();
    if !root.has_tag_name((NAMESPACE, "svg")) {
        return Err(Reason::new("svg-not-xml"));
    }
    document.descendants().try_for_each(check_node)
}

fn check_node(node: Node<'_, '_>) -> Result<(), Reason> {
    if node.is_pi() {
        return Err(Reason::new("svg-element").with("name", "?"));
    }
    if !node.is_element() {
        return Ok(());
    }
    let tag = node.tag_name();
    if tag.namespace() != Some(NAMESPACE) || !ELEMENTS.contains(&tag.name()) {
        return Err(Reason::new("svg-element").with("name", tag.name()));
    }
    if tag.name() == "style" {
        let styles: String = node
            .descendants()
            .filter_map(|inner| inner.text())
            .collect();
        check_style(&styles)?;
    }
    for attribute in node.attributes() {
        let name = attribute.name();
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("on") || lower == "src" || lower == "base" {
            return Err(Reason::new("svg-attribute").with("name", name));
        }
        let value = attribute.value().trim_start();
        if lower == "href" && !WITHIN.iter().any(|begin| value.starts_with(begin)) {
            return Err(Reason::new("svg-reference"));
        }
        check_style(value)?;
    }
    Ok(())
}

/// Styles, and attributes that are styles, refer to parts of the same file only.
fn check_style(style: &str) -> Result<(), Reason> {
    let lower = style.to_ascii_lowercase();
    let leads_elsewhere = |rest: &str| {
        let target = rest.trim_start_matches([' ', '\t', '\n', '\r', '"', '\'']);
        !target.starts_with('#')
    };
    let refers = lower.split("url(").skip(1).any(leads_elsewhere);
    // An escape could spell any of these words.
    let is_hidden = lower.contains('\\');
    let runs = ["@import", "expression(", "javascript:", "image-set("]
        .iter()
        .any(|word| lower.contains(word));
    match refers || is_hidden || runs {
        true => Err(Reason::new("svg-reference")),
        false => Ok(()),
    }
}
