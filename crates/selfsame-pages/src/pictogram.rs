//! A card's small picture: drawn here for the pictures we know, since not every machine has a font for them.

/// Line drawings on a field of 24 by 24, in the colour of the text around them.
const DRAWN: [(&str, &str); 7] = [
    // A flower.
    (
        "🌼",
        r#"<circle cx="12" cy="12" r="2.6"/><circle cx="12" cy="5.6" r="2.9"/><circle cx="18.1" cy="10" r="2.9"/><circle cx="15.8" cy="17.2" r="2.9"/><circle cx="8.2" cy="17.2" r="2.9"/><circle cx="5.9" cy="10" r="2.9"/>"#,
    ),
    // A clipboard with lines.
    (
        "📋",
        r#"<path d="M9 4H6.5A1.5 1.5 0 0 0 5 5.5v14A1.5 1.5 0 0 0 6.5 21h11a1.5 1.5 0 0 0 1.5-1.5v-14A1.5 1.5 0 0 0 17.5 4H15M9 2.5h6v3.5H9zM8.5 10.5h7M8.5 14h7M8.5 17.5h4"/>"#,
    ),
    // A syringe.
    (
        "💉",
        r#"<g transform="rotate(45 12 12)"><path d="M9 1.5h6M12 1.5v5M7.5 6.5h9M9 6.5v9.5h6V6.5M9 9.5h2.8M9 12.5h2.8M12 16v6.5"/></g>"#,
    ),
    // A test tube.
    (
        "🧪",
        r#"<g transform="rotate(20 12 12)"><path d="M7.5 2.5h9M9 2.5V18a3 3 0 0 0 6 0V2.5M9 11.5h6M12.2 15h.01"/></g>"#,
    ),
    // A capsule.
    (
        "💊",
        r#"<g transform="rotate(45 12 12)"><rect x="7.5" y="2" width="9" height="20" rx="4.5"/><path d="M7.5 12h9M10.5 6v2.5"/></g>"#,
    ),
    // A house with a cross.
    (
        "🏥",
        r#"<path d="M2.5 21h19M4.5 21V4.5A1.5 1.5 0 0 1 6 3h12a1.5 1.5 0 0 1 1.5 1.5V21M12 6v5.5M9.25 8.75h5.5M9.5 21v-5.5h5V21"/>"#,
    ),
    // A cogwheel.
    (
        "⚙️",
        r#"<circle cx="12" cy="12" r="6"/><circle cx="12" cy="12" r="2"/><path d="M12 6V2.5M12 18v3.5M6 12H2.5M18 12h3.5M7.8 7.8 5.3 5.3M16.2 16.2l2.5 2.5M7.8 16.2l-2.5 2.5M16.2 7.8l2.5-2.5"/>"#,
    ),
];

/// The drawing that replaces a picture; `None` for a picture that needs a font.
pub fn svg(picture: &str) -> Option<String> {
    let (_, lines) = DRAWN.iter().find(|(known, _)| *known == picture)?;
    Some(format!(
        r#"<svg viewBox="0 0 24 24" width="30" height="30" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">{lines}</svg>"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_has_a_drawing_of_its_own() {
        let drawings: std::collections::BTreeSet<String> = selfsame_types::samples::samples("")
            .iter()
            .map(|one| svg(one.icon()).unwrap_or_else(|| panic!("{}", one.id)))
            .collect();
        assert_eq!(drawings.len(), selfsame_types::samples::samples("").len());
    }

    #[test]
    fn what_an_issuer_sends_is_never_taken_for_a_drawing() {
        assert_eq!(svg("<svg onload=alert(1)>"), None);
        assert_eq!(svg(""), None);
    }
}
