//! Links as QR codes, drawn as SVG.

use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};

/// The code as an `<svg>` element; empty if the link is too long for a QR code.
pub fn svg(link: &str) -> String {
    let Ok(code) = QrCode::with_error_correction_level(link, EcLevel::L) else {
        return String::new();
    };
    let drawn = code
        .render::<svg::Color<'_>>()
        .min_dimensions(240, 240)
        .dark_color(svg::Color("#10201c"))
        .light_color(svg::Color("#ffffff"))
        .build();
    // A page must not contain an XML declaration.
    drawn
        .find("<svg")
        .and_then(|start| drawn.get(start..))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_becomes_an_svg_element_without_styles_or_scripts() {
        let svg =
            svg("openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fclinic.example%2F1");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
        assert!(!svg.contains("style=") && !svg.contains("<script"));
    }

    #[test]
    fn a_link_that_is_too_long_has_no_code() {
        assert_eq!(svg(&"x".repeat(5000)), "");
    }
}
