//! Our own drawings of the samples' pictograms, since not every machine has a font for them.

/// A line drawing on a field of 24 by 24.
#[derive(Clone, Copy, Debug)]
pub struct Drawing {
    /// The pictogram that it stands for.
    pub pictogram: &'static str,
    /// What it shows, in English.
    pub shows: &'static str,
    lines: &'static str,
}

const DRAWINGS: [Drawing; 10] = [
    Drawing {
        pictogram: "🌼",
        shows: "A flower",
        lines: r#"<circle cx="12" cy="12" r="2.6"/><circle cx="12" cy="5.6" r="2.9"/><circle cx="18.1" cy="10" r="2.9"/><circle cx="15.8" cy="17.2" r="2.9"/><circle cx="8.2" cy="17.2" r="2.9"/><circle cx="5.9" cy="10" r="2.9"/>"#,
    },
    Drawing {
        pictogram: "📋",
        shows: "A clipboard with lines",
        lines: r#"<path d="M9 4H6.5A1.5 1.5 0 0 0 5 5.5v14A1.5 1.5 0 0 0 6.5 21h11a1.5 1.5 0 0 0 1.5-1.5v-14A1.5 1.5 0 0 0 17.5 4H15M9 2.5h6v3.5H9zM8.5 10.5h7M8.5 14h7M8.5 17.5h4"/>"#,
    },
    Drawing {
        pictogram: "💉",
        shows: "A syringe",
        lines: r#"<g transform="rotate(45 12 12)"><path d="M9 1.5h6M12 1.5v5M7.5 6.5h9M9 6.5v9.5h6V6.5M9 9.5h2.8M9 12.5h2.8M12 16v6.5"/></g>"#,
    },
    Drawing {
        pictogram: "🧪",
        shows: "A test tube",
        lines: r#"<g transform="rotate(20 12 12)"><path d="M7.5 2.5h9M9 2.5V18a3 3 0 0 0 6 0V2.5M9 11.5h6M12.2 15h.01"/></g>"#,
    },
    Drawing {
        pictogram: "💊",
        shows: "A capsule",
        lines: r#"<g transform="rotate(45 12 12)"><rect x="7.5" y="2" width="9" height="20" rx="4.5"/><path d="M7.5 12h9M10.5 6v2.5"/></g>"#,
    },
    Drawing {
        pictogram: "🏥",
        shows: "A house with a cross",
        lines: r#"<path d="M2.5 21h19M4.5 21V4.5A1.5 1.5 0 0 1 6 3h12a1.5 1.5 0 0 1 1.5 1.5V21M12 6v5.5M9.25 8.75h5.5M9.5 21v-5.5h5V21"/>"#,
    },
    Drawing {
        pictogram: "🚗",
        shows: "A car",
        lines: r#"<path d="M3 16.5v-4l2-5.2A1.6 1.6 0 0 1 6.5 6.2h11a1.6 1.6 0 0 1 1.5 1.1l2 5.2v4zM3.4 12.5h17.2M4.5 16.5v2.3M19.5 16.5v2.3M6.5 14.5h1.5M16 14.5h1.5"/>"#,
    },
    Drawing {
        pictogram: "🪪",
        shows: "A card with a head on it",
        lines: r#"<rect x="2.5" y="5" width="19" height="14" rx="1.8"/><circle cx="8" cy="10.3" r="2"/><path d="M4.8 16a3.3 3.3 0 0 1 6.4 0M14 9.5h5M14 12.5h5M14 15.5h3"/>"#,
    },
    Drawing {
        pictogram: "🩹",
        shows: "A plaster",
        lines: r#"<g transform="rotate(-45 12 12)"><rect x="1.5" y="7.8" width="21" height="8.4" rx="4.2"/><path d="M8.5 7.8v8.4M15.5 7.8v8.4M11 10.6h.01M13 10.6h.01M11 13.4h.01M13 13.4h.01"/></g>"#,
    },
    Drawing {
        pictogram: "⚙️",
        shows: "A cogwheel",
        lines: r#"<circle cx="12" cy="12" r="6"/><circle cx="12" cy="12" r="2"/><path d="M12 6V2.5M12 18v3.5M6 12H2.5M18 12h3.5M7.8 7.8 5.3 5.3M16.2 16.2l2.5 2.5M7.8 16.2l-2.5 2.5M16.2 7.8l2.5-2.5"/>"#,
    },
];

impl Drawing {
    /// The drawing of a pictogram; `None` for one that needs a font.
    #[must_use]
    pub fn of(pictogram: &str) -> Option<Self> {
        let is_it = |drawing: &Self| drawing.pictogram == pictogram;
        DRAWINGS.into_iter().find(is_it)
    }

    /// The drawing for a page, in the colour of the text around it.
    #[must_use]
    pub fn inline(&self) -> String {
        self.svg(r#"width="30" height="30""#, "currentColor")
    }

    /// The drawing as a file of its own, in this colour, `#rrggbb`.
    #[must_use]
    pub fn file(&self, color: &str) -> String {
        self.svg(
            r#"xmlns="http://www.w3.org/2000/svg" width="96" height="96""#,
            color,
        )
    }

    fn svg(&self, attributes: &str, color: &str) -> String {
        let lines = self.lines;
        format!(
            r#"<svg viewBox="0 0 24 24" {attributes} fill="none" stroke="{color}" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">{lines}</svg>"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg;
    use super::*;

    #[test]
    fn each_drawing_is_an_image_that_our_own_check_lets_pass() {
        for drawing in DRAWINGS {
            svg::check(drawing.file("#ffffff").as_bytes()).unwrap();
            assert!(!drawing.shows.is_empty() && drawing.inline().contains("currentColor"));
        }
    }

    #[test]
    fn what_an_issuer_sends_is_never_taken_for_a_drawing() {
        assert!(Drawing::of("<svg onload=alert(1)>").is_none());
        assert!(Drawing::of("").is_none());
    }
}
