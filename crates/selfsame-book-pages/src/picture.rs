//! The picture of a topic's relationships: the topic in the middle, the others around it.

use selfsame_book_view::ShownNeighbour;

/// The topics that are drawn; the list below the picture has all.
const DRAWN: usize = 8;
/// Characters of a name that are drawn.
const NAME: usize = 22;

/// The picture as SVG, whose texts are escaped. It has a text alternative, and the list beside it says the same.
pub fn relationships(name: &str, neighbours: &[ShownNeighbour]) -> String {
    let drawn = neighbours.len().min(DRAWN);
    let height = drawn.max(1) * 56 + 24;
    let middle = height / 2;
    let mut picture = format!(
        "<svg class=\"relations\" viewBox=\"0 0 640 {height}\" role=\"img\" aria-label=\"Relationships of {}\" xmlns=\"http://www.w3.org/2000/svg\">",
        escaped(name)
    );
    for (place, one) in neighbours.iter().take(DRAWN).enumerate() {
        let at = place * 56 + 40;
        let arrow = if one.is_from_other { "◀" } else { "▶" };
        picture.push_str(&format!(
            "<path d=\"M 220 {middle} C 300 {middle} 320 {at} 400 {at}\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".4\"/>\
             <text x=\"312\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\" fill=\"currentColor\">{} {arrow}</text>{}",
            (middle + at) / 2 - 6,
            escaped(&short(&one.relation)),
            boxed(400, at, one.title()),
        ));
    }
    picture.push_str(&boxed(0, middle, name));
    picture.push_str("</svg>");
    picture
}

/// A box with a name, whose left edge and middle are here.
fn boxed(x: usize, y: usize, name: &str) -> String {
    format!(
        "<rect x=\"{}\" y=\"{}\" width=\"219\" height=\"40\" rx=\"10\" fill=\"none\" stroke=\"currentColor\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\" fill=\"currentColor\">{}</text>",
        x + 1,
        y - 20,
        x + 110,
        y + 5,
        escaped(&short(name)),
    )
}

fn short(name: &str) -> String {
    match name.chars().nth(NAME) {
        None => name.to_owned(),
        Some(_) => name.chars().take(NAME - 1).chain(['…']).collect(),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for one in text.chars() {
        match one {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_neighbours_are_drawn_in_part_and_names_are_cut() {
        let one = ShownNeighbour {
            id: 1,
            relation: "\"><script>".to_owned(),
            is_from_other: true,
            name: Some("A name that is much too long for its box".to_owned()),
            source_id: "1".to_owned(),
        };
        let picture = relationships("<b>", &vec![one; 30]);
        assert_eq!(picture.matches("<rect").count(), DRAWN + 1);
        assert!(picture.contains("A name that is much t…"), "{picture}");
        assert!(!picture.contains("<script>") && !picture.contains("<b>"));
    }
}
