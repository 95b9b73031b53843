//! A card's small picture: drawn for the pictures we know, since not every machine has a font for them.

use selfsame_types::image::Drawing;

/// The drawing that replaces a picture; `None` for a picture that needs a font.
pub fn svg(picture: &str) -> Option<String> {
    Drawing::of(picture).map(|drawing| drawing.inline())
}
