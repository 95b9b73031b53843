//! A pictogram, such as an emoji, as an image for wallets that show images alone.

use super::{Picture, SVG};

/// The image of a pictogram. The program that shows it needs a font with this pictogram.
#[must_use]
pub fn pictogram(icon: &str) -> Picture {
    let escaped = icon
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\"><text x=\"32\" y=\"32\" \
         font-size=\"48\" text-anchor=\"middle\" dominant-baseline=\"central\">{escaped}</text></svg>"
    );
    Picture {
        media: SVG,
        bytes: svg.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg;
    use super::*;

    #[test]
    fn a_pictogram_is_an_image_that_our_own_check_lets_pass() {
        for icon in ["🎫", "<script>", "a&b"] {
            let drawn = pictogram(icon);
            svg::check(&drawn.bytes).unwrap();
            assert!(!String::from_utf8(drawn.bytes).unwrap().contains("<script"));
        }
    }
}
