//! Pages whose content another crate has made: the frame stands around it.

use askama::Template;

use crate::Frame;

/// What another crate has made for a page.
pub struct Content {
    /// The page's title.
    pub title: String,
    /// Whether the page is shown again after an error.
    pub is_failed: bool,
    /// The HTML between the navigation and the foot, whose texts are escaped.
    pub main: String,
}

/// A page with such content.
#[derive(Template)]
#[template(path = "content.html")]
pub struct ContentPage {
    frame: Frame,
    main: String,
}

impl ContentPage {
    /// The page with this content.
    pub fn of(frame: Frame, content: Content) -> Self {
        let frame = match content.is_failed {
            true => frame.failed(&content.title),
            false => frame.titled(content.title),
        };
        Self {
            frame,
            main: content.main,
        }
    }
}
