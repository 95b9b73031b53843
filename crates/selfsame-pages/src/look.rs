//! How a card's face looks: its colours, by a style sheet of their own, its picture and its logo.

use selfsame_core::organisation::look::LookView;
use selfsame_types::TypeDefinition;
use selfsame_types::color::{contrast, readable_on};
use url::Url;

/// The colours of a card without colours of its own.
pub const DEFAULT: [&str; 2] = selfsame_types::editor::DEFAULT_COLORS;

/// How a card's face looks.
pub struct CardLook {
    /// Its class, and the name of the style sheet of its colours.
    pub class: String,
    /// Its pictogram.
    pub icon: String,
    /// The address of its logo, here or in itself; empty without one.
    pub logo: String,
}

impl CardLook {
    /// The look of these colours, `#rrggbb` each.
    pub fn of(background: Option<&str>, text: Option<&str>) -> Self {
        let [default, light] = DEFAULT;
        let background = background
            .filter(|color| digits(color).is_some())
            .unwrap_or(default);
        let readable = readable_on(background).unwrap_or(light);
        let text = text
            .filter(|color| digits(color).is_some())
            .unwrap_or(readable);
        let name = |color: &str| digits(color).unwrap_or_default().to_ascii_lowercase();
        let class = format!("card-{}-{}", name(background), name(text));
        Self {
            class,
            icon: String::new(),
            logo: String::new(),
        }
    }

    /// The name of the style sheet of its colours.
    pub fn sheet(&self) -> String {
        format!("{}.css", self.class)
    }

    /// The look of a type's card.
    pub fn of_type(one: &TypeDefinition) -> Self {
        let card = &one.card;
        let look = Self::of(card.background_color.as_deref(), card.text_color.as_deref());
        Self {
            icon: one.icon().to_owned(),
            logo: card
                .logo
                .as_ref()
                .map(|logo| logo.uri.clone())
                .unwrap_or_default(),
            ..look
        }
    }
}

/// How an organisation looks on pages: its logo, and the colour behind its name.
#[derive(Clone, Debug, Default)]
pub struct OwnLook {
    /// The path of its logo after what the paths of its pages begin with; empty without one.
    pub logo: String,
    /// Its colour, `#rrggbb`; empty without one.
    pub colour: String,
}

impl OwnLook {
    /// The look of this organisation of the instance.
    pub fn of(look: &LookView) -> Self {
        let logo = look.logo.as_deref().and_then(own_path);
        let path = logo.and_then(|path| path.rfind("/logo/").map(|at| path[at..].to_owned()));
        Self {
            logo: path.unwrap_or_default(),
            colour: look.colour.clone().unwrap_or_default(),
        }
    }

    /// The class of what has its colour, after a space; empty without one.
    pub fn class(&self) -> String {
        let card = self.card();
        card.map_or_else(String::new, |card| format!(" {}", card.class))
    }

    /// The name of the style sheet of its colour.
    pub fn sheet(&self) -> Option<String> {
        self.card().map(|card| card.sheet())
    }

    fn card(&self) -> Option<CardLook> {
        let colour = Some(self.colour.as_str()).filter(|colour| !colour.is_empty())?;
        Some(CardLook::of(Some(colour), None))
    }
}

/// The path of a logo that this instance serves.
pub fn own_path(logo: &str) -> Option<String> {
    let address = Url::parse(logo).ok()?;
    Some(address.path().to_owned())
}

/// The style sheet with this name, `card-rrggbb-rrggbb.css`: a background that becomes a little darker or lighter away
/// from the text.
pub fn sheet(name: &str) -> Option<String> {
    let colors = name.strip_prefix("card-")?.strip_suffix(".css")?;
    let (background, text) = colors.split_once('-')?;
    let (background, text) = (format!("#{background}"), format!("#{text}"));
    digits(&background)?;
    digits(&text)?;
    let beside = match contrast(&text, "#000000")? > contrast(&text, "#ffffff")? {
        true => "black",
        false => "white",
    };
    Some(format!(
        ".card-{colors} {{ --a: {background}; --b: color-mix(in srgb, {background} 72%, {beside}); color: {text}; }}\n"
    ))
}

/// The digits of a colour `#rrggbb`.
fn digits(color: &str) -> Option<&str> {
    let digits = color.strip_prefix('#')?;
    let is_color = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_color.then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_has_exactly_the_colours_of_its_card() {
        let look = CardLook::of(Some("#1F4E79"), Some("#ffffff"));
        assert_eq!(look.class, "card-1f4e79-ffffff");
        let css = sheet("card-1f4e79-ffffff.css").unwrap();
        assert!(
            css.starts_with(".card-1f4e79-ffffff { --a: #1f4e79;") && css.contains("black"),
            "{css}"
        );
        assert!(sheet("card-ffee00-000000.css").unwrap().contains("white"));
    }

    #[test]
    fn a_text_without_a_colour_is_readable() {
        assert_eq!(
            CardLook::of(Some("#ffee00"), None).class,
            "card-ffee00-000000"
        );
        assert_eq!(
            CardLook::of(Some("#102030"), None).class,
            "card-102030-ffffff"
        );
        assert_eq!(
            CardLook::of(Some("red"), Some("url(x)")).class,
            "card-56657a-ffffff"
        );
    }

    #[test]
    fn only_colours_are_written_into_a_style_sheet() {
        for strange in [
            "card-.css",
            "card-12345-ffffff.css",
            "card-1f4e79-ffffff",
            "card-1f4e79-}body{.css",
            "app.css",
        ] {
            assert_eq!(sheet(strange), None, "{strange}");
        }
    }
}
